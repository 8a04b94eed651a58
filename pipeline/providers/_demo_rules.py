"""The rules of the demo model: what it does for a phrase, and what it says about a tool's result. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import orjson
from pydantic import JsonValue

from pipeline.messages import CONTEXT_HEAD, AssistantMessage, Message, ToolMessage, UserMessage
from pipeline.provider import Finish, ProviderRequest
from pipeline.providers._json import JsonObject, parse_object, text_of

MISSING_FILE = "no-such-file.txt"
_SHOWN_CHARS = 1500
_MENTION = re.compile(r"<@!?\d+>|^@\w+")
_POLITE = re.compile(r"^(?:(?:please|hey|hi|hello|ok|can you|could you|would you)[\s,]+)+", re.IGNORECASE)
_QUOTES = "\"'`“”‘’«»"

HELP = """\
I am a demo model: I follow a few rules and understand nothing else. Try one of these:
- `what is in this folder` lists the files
- `read X` shows a file
- `search X` looks for a text in all files
- `write TEXT to X` writes a file, once you have approved it
- `fail` calls a tool that fails
- `think` thinks before it answers
- `long answer` talks for 20 seconds, so you can press Stop
- `loop` calls tools until the limit of a turn
- `repeat` makes the same call again and again
- `keep failing` calls tools that fail until the limit of errors
- `fall back` is answered by another model, since this one breaks
- `cut` stops in the middle of an answer and goes on
- `look at me` looks at your picture
- `remind me` reminds you in five seconds
- `sticker` adds a sticker to the answer
- `react` puts a reaction on your message
- `thread` opens a thread, once you have approved it
- `note TEXT` remembers TEXT for this channel

For real answers, set the key of a provider."""

THOUGHTS = (
    "Somebody asks me to think. I am a demo model, so there is not much to think with. "
    "Two and two is four, and four is twice two: that seems sound."
)
_THOUGHT = "I am a demo model, and I have thought about it: two and two is four."
_LONG_WORDS = 600
BACKUP = "demo-2"
"""The model of the demo that answers where the first one breaks."""
_FELL_BACK = "I am the second demo model: the first one broke, so I answer."
_FIRST_HALF = "This answer is cut in the middle of its sent"
_SECOND_HALF = "ence, and then it goes on as if nothing had happened."


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """Say `pieces` one after another, `per_s` a second, after thinking `thoughts` at the same pace."""

    pieces: Sequence[str]
    thoughts: Sequence[str] = ()
    per_s: float = 25.0
    finish: Finish = Finish.END


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """Fail, as a provider that cannot be reached does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Call a tool, after saying `text`."""

    name: str
    text: str = ""
    arguments: dict[str, JsonValue] = field(default_factory=dict)

    @property
    def json(self) -> str:
        return orjson.dumps(self.arguments).decode()


def decide(request: ProviderRequest) -> Say | Call | Break:
    """What the demo model does next, from the last thing a person said and what came of it since."""
    asked, since = _current(request.messages)
    if any(phrase.lower() == "fall back" for phrase in _phrases(asked)):
        return _say(_FELL_BACK) if request.model == BACKUP else Break()
    if any(phrase.lower() == "cut" for phrase in _phrases(asked)):
        return _say(_SECOND_HALF) if since else replace(_say(_FIRST_HALF), finish=Finish.LENGTH)
    results = [message for message in since if isinstance(message, ToolMessage)]
    wanted = _wanted(asked, done=len(results))
    if results and not _goes_on(asked, failed=results[-1].is_error):
        return _say(_about(results[-1], _arguments(since, results[-1]), _pictures_in(since)))
    if isinstance(wanted, Call) and wanted.name not in {tool.name for tool in request.tools}:
        return _say(f"I am a demo model, and here I have no tool `{wanted.name}`, which that needs.")
    return wanted or _say(HELP)


def words(text: str) -> list[str]:
    """`text` in pieces of one word, with the space after it."""
    return re.findall(r"\s*\S+\s?|\s+", text)


def _say(text: str) -> Say:
    """A word every 40 ms, faster where that would take more than four seconds."""
    pieces = words(text)
    return Say(pieces=pieces, per_s=max(25.0, len(pieces) / 4))


def _current(messages: Sequence[Message]) -> tuple[str, Sequence[Message]]:
    for number in range(len(messages) - 1, -1, -1):
        message = messages[number]
        if isinstance(message, UserMessage) and not message.text.startswith(CONTEXT_HEAD):
            asked = message.text
            if any(phrase.lower() == "go on" for phrase in _phrases(asked)):  # with what was asked for before
                asked = _current(messages[:number])[0] or asked
            return asked, messages[number + 1 :]
    return "", messages


def _phrases(text: str) -> list[str]:
    """What the person may have typed: the text without quoted data, author, mention, politeness and end signs."""
    lines = text.strip().split("\n")
    while lines and lines[0].startswith("["):
        lines.pop(0)
    while lines and lines[-1].startswith("["):
        lines.pop()
    whole = "\n".join(lines)
    return [
        _POLITE.sub("", _MENTION.sub("", candidate.strip()).strip(" \n,:")).rstrip(" \n.!?…")
        for candidate in (whole.partition(": ")[2], whole)
    ]


def _wanted(text: str, *, done: int) -> Say | Call | None:
    """The rule that the first fitting phrase starts; `done` calls of this turn have their result."""
    author = _author(text)
    return next((act for phrase in _phrases(text) if (act := _rule(phrase, done, author)) is not None), None)


def _author(text: str) -> str:
    said = next((line for line in text.strip().split("\n") if not line.startswith("[")), "")
    return said.partition(": ")[0]


def _rule(phrase: str, done: int, author: str) -> Say | Call | None:
    if re.match(r"(what(’s|'s| is) in (this|the) folder|list (the )?(files|folder))", phrase, re.IGNORECASE):
        return Call(name="list_dir")
    if match := re.fullmatch(r"write\s+(.+)\s+to\s+([^\n]+)", phrase, re.IGNORECASE | re.DOTALL):
        return Call(name="write_file", arguments={"path": _bare(match[2]), "content": _bare(match[1]) + "\n"})
    if match := re.fullmatch(r"read\s+([^\n]+)", phrase, re.IGNORECASE):
        return Call(name="read_file", arguments={"path": _bare(match[1])})
    if match := re.fullmatch(r"search\s+(?:for\s+)?([^\n]+)", phrase, re.IGNORECASE):
        return Call(name="search_files", arguments={"query": _bare(match[1])})
    if match := re.fullmatch(r"note\s+(.+)", phrase, re.IGNORECASE | re.DOTALL):
        return Call(name="update_short_term_memory", text="Noted.", arguments={"text": _bare(match[1])})
    match phrase.lower():
        case "keep failing":
            return Call(name="read_file", arguments={"path": f"no-such-file-{done + 1}.txt"})
        case "look at me":
            return Call(name="view_image", arguments={"pictures": [f"avatar of {author}"]})
        case "remind me":
            return Call(name="set_reminder", arguments={"text": "This is your reminder.", "in_seconds": 5})
        case "sticker":
            return Call(name="select_sticker", arguments={"sticker": "Wave"})
        case "react":
            return Call(name="react", arguments={"emoji": "👍"})
        case "thread":
            return Call(name="create_thread", arguments={"title": "A thread of the demo"})
        case "fail":
            return Call(name="read_file", arguments={"path": MISSING_FILE})
        case "think":
            return Say(pieces=words(_THOUGHT), thoughts=words(THOUGHTS))
        case "long answer":
            return Say(pieces=_long(), per_s=30.0)
        case "loop":
            return Call(name="search_files", arguments={"query": f"step {done + 1}"})
        case "repeat":
            return Call(name="list_dir")
    return None


def _goes_on(text: str, *, failed: bool) -> bool:
    """Does this phrase ask for call after call?"""
    wanted = {"keep failing"} if failed else {"loop", "repeat"}
    return any(phrase.lower() in wanted for phrase in _phrases(text))


def _pictures_in(messages: Sequence[Message]) -> list[str]:
    """The media types of the pictures that a tool brought."""
    return [image.media_type for m in messages if isinstance(m, UserMessage) for image in m.images]


def _bare(text: str) -> str:
    """`text` without the quotes round it."""
    text = text.strip()
    return text[1:-1] if len(text) > 2 and text[0] in _QUOTES and text[-1] in _QUOTES else text


def _long() -> list[str]:
    """600 pieces, numbered so that a lost or doubled one is seen."""
    return [f"word {number}" + (".\n" if number % 10 == 0 else ", ") for number in range(1, _LONG_WORDS + 1)]


def _arguments(since: Sequence[Message], result: ToolMessage) -> JsonObject:
    for message in since:
        for call in message.calls if isinstance(message, AssistantMessage) else ():
            if call.id == result.call_id:
                return parse_object(call.arguments) or {}
    return {}


def _about(result: ToolMessage, arguments: JsonObject, pictures: Sequence[str]) -> str:
    """What to say about the newest result: only what it says itself."""
    content = result.content.strip()
    if result.is_error:
        return _about_failure(content)
    path = text_of(arguments.get("path"))
    match result.name:
        case "list_dir":
            return _about_folder(content)
        case "read_file":
            return f"`{path}` says:\n{_fenced(content)}"
        case "view_image":
            return f"I was shown {len(pictures)} picture ({', '.join(pictures)}). {content}"
        case "set_reminder":
            return f"Done: {content.partition('. Tell the person')[0]}."
        case "search_files":
            return f"I searched for `{text_of(arguments.get('query'))}`:\n{_fenced(content)}"
        case _:
            return f"Done: {content}"


def _about_failure(content: str) -> str:
    if not content.lower().startswith("not run"):
        return f"That did not work. The tool says: {content}"
    _, says, reason = content.partition(" says: ")
    if says:
        return f"I hear you: “{reason.strip()}”. So I leave it, nothing was changed."
    return f"It was not carried out, so nothing was changed. ({content})"


def _about_folder(content: str) -> str:
    names = [(line[0], line[2:]) for line in content.split("\n") if line[:2] in {"d ", "f "}]
    if not names:
        return "The folder is empty." if content == "(empty)" else f"The tool says:\n{_fenced(content)}"
    folders = sum(kind == "d" for kind, _ in names)
    count = " and ".join(
        f"{number} {word}{'' if number == 1 else 's'}"
        for number, word in ((folders, "folder"), (len(names) - folders, "file"))
        if number
    )
    listed = "\n".join(f"- `{name}/`" if kind == "d" else f"- `{name}`" for kind, name in names)
    return f"In this folder I see {count}:\n{listed}"


def _fenced(content: str) -> str:
    """`content` in a code block that it cannot close."""
    if len(content) > _SHOWN_CHARS:
        content = content[:_SHOWN_CHARS].rstrip() + "\n…"
    longest = max((len(ticks) for ticks in re.findall(r"`+", content)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{content}\n{fence}"
