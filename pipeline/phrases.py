"""Words that end a turn: a message that says nothing but "stop", in several languages."""

from __future__ import annotations

import re
import unicodedata

MAX_WORDS = 6
MAX_CHARS = 80

# What ends a turn when a message says nothing else. Written as people write; case, accents and signs do not matter.
STOP_PHRASES = {
    "en": (
        "stop, stop it, stop that, stop this, stop here, stop talking, stop answering, halt, abort, abort it,"
        " abort that, abort this, cancel, cancel it, cancel that, cancel this, quit it, enough, that's enough,"
        " that is enough, thats enough, that will do, that'll do, never mind, nevermind, nvm, forget it, forget that,"
        " forget about it, no more, leave it, drop it, be quiet, shut up, knock it off"
    ),
    "de": "stopp, halt an, anhalten, aufhören, hör auf, hör auf damit, abbrechen, abbruch, brich ab, brich das ab,"
    " das reicht, es reicht, reicht, genug, vergiss es, lass es, lass das, lass gut sein, schon gut",
    "fr": "arrête, arrêtez, arrête-toi, arrête ça, arrêter, ça suffit, suffit, assez, annule, annule ça, annuler,"
    " laisse tomber, laisse, oublie, oublie ça",
    "es": "para, para ya, páralo, detente, detenlo, basta, ya basta, alto, cancela, cancélalo, cancela eso, cancelar,"
    " déjalo, olvídalo, es suficiente, suficiente",
    "pt": "pare, pare com isso, chega, já chega, cancele, deixa pra lá, deixa, esquece, esquece isso",
    "it": "ferma, fermati, fermo, smettila, annulla, lascia perdere, lascia stare, è abbastanza",
    "nl": "hou op, ophouden, genoeg, laat maar, annuleer, annuleren, vergeet het",
    "pl": "przestań, wystarczy, dość, anuluj, zatrzymaj, zatrzymaj się, nieważne",
    "sv": "stanna, sluta, avbryt, det räcker, glöm det",
    "tr": "dur, durdur, yeter, iptal, iptal et, vazgeç, boş ver",
    "ru": "стоп, хватит, остановись, остановить, отмена, отмени, прекрати, достаточно, забудь",
    "uk": "зупинись, досить, скасуй, припини",
    "ja": "ストップ, やめて, やめろ, 止めて, 止まって, とめて, 停止, 中止, キャンセル, もういい",
    "zh": "停, 停下, 停下来, 停止, 取消, 够了, 夠了, 算了, 别说了, 不用了",
    "ko": "그만, 그만해, 멈춰, 멈춰줘, 취소, 중지, 됐어",
    "ar": "توقف, قف, كفى, يكفي, إلغاء",
    "hi": "रुको, रुक जाओ, बस, बंद करो",
}

# What people say around it.
FILLERS = (
    "please, pls, plz, now, right now, ok, okay, hey, no, wait, oh, sorry, thanks, thank you, thx, bot, just, already,"
    " bitte, jetzt, sofort, danke, nein, s'il te plaît, s'il vous plaît, svp, merci, maintenant, non,"
    " por favor, ahora, gracias, não, obrigado, obrigada, agora, per favore, grazie, adesso, ora,"
    " alstublieft, alsjeblieft, nu, proszę, teraz, tack, lütfen, пожалуйста, сейчас, будь ласка,"
    " ください, お願い, お願いします, 请, 請, 제발, من فضلك"
)


def is_stop_phrase(text: str) -> bool:
    """Whether `text` (without the bot's mention) asks for an end and says nothing else; "stop the server" does not."""
    if len(text) > MAX_CHARS:
        return False
    words = _words(text)
    return 0 < len(words) <= MAX_WORDS and _STOP.fullmatch(" ".join(words)) is not None


def _words(text: str) -> list[str]:
    """The words of `text` without case, accents and signs. An apostrophe divides nothing: "that's" is one word."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = re.sub(r"[\u0300-\u036f'\u2018\u2019\u02bc`\u00b4]", "", plain)
    plain = unicodedata.normalize("NFC", plain)
    return "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in plain).split()


def _one_of(*lists: str) -> str:
    """A pattern for the phrases in comma-separated `lists`, the longest first."""
    phrases = {" ".join(_words(phrase)) for listed in lists for phrase in listed.split(",")}
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


_PHRASE, _FILLER = _one_of(*STOP_PHRASES.values()), _one_of(FILLERS)
_STOP = re.compile(rf"(?:(?:{_FILLER}) )*(?:{_PHRASE})(?: (?:{_PHRASE}|{_FILLER}))*")
