"""What a message is about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.intents import KEYWORDS, PHRASES, file_in, follow_up_in, intents_of


def subjects(text: str) -> set[str]:
    return {subject for subject, _ in intents_of(text)}


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What is in this picture?", "image"),
        ("show me alice's avatar", "image"),
        ("have a look at this", "image"),
        ("summarise the attached PDF", "media-analysis"),
        ("transcribe this recording please", "media-analysis"),
        ("Remember that I like tea", "memory"),
        ("don’t forget my birthday", "memory"),
        ("remind me in ten minutes", "reminder"),
        ("ping me tomorrow", "reminder"),
        ("open a new thread for this", "thread"),
        ("let's talk in a separate thread", "thread"),
        ("send a sticker", "sticker"),
        ("react with a heart", "message-action"),
        ("pin this", "message-action"),
        ("when was that posted?", "message-action"),
        ("who wrote this?", "message-action"),
        ("find all uses of fold", "search"),
        ("where is the parser?", "search"),
        ("what is in this folder?", "files"),
        ("fix the bug", "files"),
        ("where is it defined?", "files"),
        ("what time is it in Lima?", "time"),
        ("which day is it", "time"),
        ("what can you do?", "capabilities"),
        ("which tools do you have?", "capabilities"),
    ],
)
def test_english_says_what_it_wants(text: str, subject: str) -> None:
    assert subject in subjects(text)


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Was ist auf dem Bild?", "image"),
        ("Erinnere mich morgen daran", "reminder"),
        ("Merk dir das", "memory"),
        ("Was steht in dieser Datei?", "files"),
        ("Wie spät ist es?", "time"),
        ("Wie spat ist es?", "time"),
        ("Suche nach dem Fehler", "search"),
        ("Was kannst du?", "capabilities"),
        ("Rappelle-moi dans une heure", "reminder"),
        ("Qu'y a-t-il dans ce dossier ?", "files"),
        ("Quelle heure est-il ?", "time"),
        ("Regarde cette image", "image"),
        ("Cherche la fonction", "search"),
        ("Crée un fil", "thread"),
        ("Recuérdame mañana", "reminder"),
        ("recuerdame mañana", "reminder"),
        ("¿Qué hay en esta carpeta?", "files"),
        ("¿Qué hora es?", "time"),
        ("mira las imágenes", "image"),
        ("Busca el error", "search"),
        ("¿Qué puedes hacer?", "capabilities"),
    ],
)
def test_german_french_and_spanish_say_what_they_want(text: str, subject: str) -> None:
    assert subject in subjects(text)


@pytest.mark.parametrize(
    "text",
    [
        "Tell me a joke",
        "hello there",
        "Such a nice day",
        "thanks, you are great",
        "Why is the sky blue?",
        "tea and/or coffee w/ milk",
        "see https://example.com/a/b.py",
        "it is 1/2 or 24/7, e.g. 3.14",
        "I am reacting badly to discontinued features",
    ],
)
def test_small_talk_wants_nothing(text: str) -> None:
    assert subjects(text) == set()


def test_every_language_has_words_for_every_subject() -> None:
    assert {language: set(pack) for language, pack in KEYWORDS.items()} == {key: set(PHRASES) for key in KEYWORDS}


@pytest.mark.parametrize(
    "text",
    [
        "read src/app.py",
        "`setup.cfg`?",
        "(see docs/pipeline/README.md)",
        "what does Makefile do",
        "list src/",
        "open ./run",
        "look into ~/notes",
        "/etc/hosts",
        "tests/pipeline/stores",
        "is .env.local there?",
        "what does main.rs do.",
    ],
)
def test_the_name_of_a_file_is_about_files(text: str) -> None:
    assert "files" in subjects(text)


def test_the_words_that_say_so_are_given_as_written() -> None:
    assert dict(intents_of("please read `src/App.py`, now"))["files"] == "src/App.py"
    assert dict(intents_of("Deine Erinnerungen?"))["reminder"] == "erinnerungen"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Do that again", "do that again"),
        ("once more, please", "once more"),
        ("the same with bob", "the same with"),
        ("same thing for the other one", "same thing"),
        ("Try it for src", "try it for"),
        ("now with the other one", "now with the"),
        ("again!", "again!"),
        ("please", "please"),
        ("Go ahead", "go ahead"),
        ("Nochmal bitte", "nochmal"),
        ("encore une fois", "encore une fois"),
        ("Otra vez", "otra vez"),
    ],
)
def test_a_follow_up_refers_to_what_was_done_before(text: str, words: str) -> None:
    assert follow_up_in(text) == words


@pytest.mark.parametrize("text", ["please tell me a joke", "this is discontinued", "it goes on"])
def test_other_words_refer_to_nothing(text: str) -> None:
    assert follow_up_in(text) == ""


@given(st.text(alphabet=st.sampled_from("a/b.~ py\n`-_1"), max_size=300))
def test_a_file_is_one_word_of_the_text(text: str) -> None:
    name = file_in(text)
    assert name in text
    assert not any(sign.isspace() for sign in name)


@given(st.text())
def test_any_text_is_about_known_subjects_and_each_once(text: str) -> None:
    found = [subject for subject, _ in intents_of(text)]
    assert len(found) == len(set(found))
    assert set(found) <= set(PHRASES)


@pytest.mark.parametrize("unit", ["a", "a/", ".a", "a ", "new ", "an the ", "~", "when ", "/a.", "`"])
def test_a_hostile_text_is_read_to_its_end(unit: str) -> None:
    follow_up_in(unit * 4000)
    for subject, words in intents_of(unit * 4000):
        assert subject in PHRASES
        assert words
