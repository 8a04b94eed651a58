"""What people write when they want a tool: words by subject. Data, and the one function that reads it.

`PHRASES` are regular expressions for English, on text that went through `fold` (lower case, no accents, single spaces);
`KEYWORDS` are literals of other languages, where `*` stands for the rest of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from pipeline.triggers import MAX_TEXT_CHARS, fold, label, literal

FILES = "files"
CAPABILITIES = "capabilities"
"""Who asks what the bot can do is answered by a model that sees all of its tools."""

PHRASES: Mapping[str, tuple[str, ...]] = {
    "image": (
        r"(?:image|picture|photo|pic|selfie|screenshot|drawing|meme|avatar)s?",
        r"(?:profile|server) (?:pic|icon|banner)",
        r"(?:look|looking) at (?:this|that|it|him|her|them|my|his|their)",
    ),
    "media-analysis": (
        r"attach(?:ment|ments|ed)|upload(?:s|ed)?|pdfs?|transcripts?|docx?",
        r"(?:voice|audio) (?:message|note|file|clip)s?|videos?|recordings?",
        r"(?:analy[sz]e|describe|transcribe|summari[sz]e|read) (?:this|that|the|my) "
        r"(?:attachment|document|image|picture|photo|video|audio|recording|clip|scan|screenshot)",
    ),
    "memory": (
        r"remember(?:s|ed)?|memor(?:y|ies|i[sz]e)|do(?:n't| not) forget|never forget|keep in mind",
        r"forget (?:that|this|about|what|everything|my)|(?:make|take|write) (?:a )?(?:mental )?notes?",
        r"note (?:that|this|down)|for (?:later|next time|future reference)|from now on",
    ),
    "reminder": (
        r"remind(?:er|ers|s|ed|ing)?|alarm|timer|countdown|wake me",
        r"(?:ping|tell|notify|nudge|message|alert|poke) me (?:in|at|on|when|again|later|tomorrow|tonight|next|every)",
    ),
    "thread": (
        r"(?:create|open|start|make|begin|new|separate|own) (?:a |an |the |new |own |separate |discord )*threads?",
        r"(?:in|into|to) (?:a|an|its own|another) (?:new |own |separate )?thread",
    ),
    "sticker": (r"stickers?",),
    "message-action": (
        r"react (?:to|with|on)|reactions?|emojis?|thumbs[ -]?up|upvote|(?:un)?pin(?:ned)? (?:this|that|it|the|my)",
        r"(?:delete|edit|remove|quote|forward) (?:this|that|the|my|your|last) (?:last |previous )?(?:message|post)s?",
        r"(?:message|reply) (?:id|link|metadata|time|timestamp|date)s?|timestamps?|metadata",
        r"(?:when|who)(?: was| did| has)?(?: it| that| this| he| she| you)? (?:sent|send|posted|post|wrote|write)",
    ),
    "search": (
        r"search(?:es|ed|ing)?|grep|find|look(?:ing)? (?:for|up)|locate|google|(?:which|what) (?:file|page|document)s?",
        r"where(?:'s| is| are| do| does| did)|occurrences?|mentions of|uses of",
    ),
    FILES: (
        r"files?|folders?|director(?:y|ies)|repo(?:sitory)?|codebase|source(?: code)?|project|readme",
        r"config(?:uration)?|grep|(?:defined|implemented|configured|declared)|to-?do list|changelog",
        r"(?:fix|refactor|implement|patch|edit|rewrite|change|review|debug) (?:the|this|that|a|my|our) "
        r"(?:bug|code|function|class|method|module|script|test|tests|line|typo|code base|document|docs|page)",
    ),
    "time": (
        r"what(?:'s| is) the (?:time|date|day)|what (?:time|day|date|year|month)|which (?:day|year|month)|time is it",
        r"(?:current|local|today's) (?:time|date|day)|time ?zones?|o'?clock|weekday|(?:right )?now in [a-z]+",
        r"how (?:long|many (?:days|hours|weeks|minutes|months)) (?:until|till|since|ago|left)|(?:days|hours) until",
    ),
    CAPABILITIES: (
        r"what (?:all |else )?can you do|what (?:are you|you are) (?:able to|capable of)|what do you do",
        r"(?:your|available|list (?:all )?(?:the |your )?) ?(?:tools|capabilities|abilities|skills|features)",
        r"(?:which|what) (?:tools|capabilities|abilities|skills) (?:do|can|are|have)",
    ),
}

KEYWORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "de": {
        "image": ("bild*", "foto*", "screenshot*", "avatar*", "profilbild*", "zeichnung*"),
        "media-analysis": ("anhang*", "angehängt*", "anhänge*", "sprachnachricht*", "aufnahme*", "video*"),
        "memory": ("merk dir", "merke dir", "erinnerst du dich", "vergiss*", "gedächtnis*", "notier*", "ab jetzt"),
        "reminder": ("erinnere mich", "erinner mich", "erinnerung*", "weck mich", "wecker", "sag mir bescheid"),
        "thread": ("thread eröffnen", "neuen thread", "einen thread", "eigenen thread"),
        "sticker": ("sticker*", "aufkleber*"),
        "message-action": ("reagier*", "reaktion*", "daumen hoch", "anpinnen", "lösch die nachricht", "zeitstempel*"),
        "search": (
            "suche*",
            "such nach",
            "such mir",
            "durchsuch*",
            "finde*",
            "wo ist",
            "wo sind",
            "wo steht",
            "wo wird",
        ),
        FILES: ("datei*", "ordner*", "verzeichnis*", "projekt*", "quelltext*", "quellcode*"),
        "time": (
            "wie spät",
            "uhrzeit",
            "welcher tag",
            "welches datum",
            "wieviel uhr",
            "wie viel uhr",
            "wie lange noch",
        ),
        CAPABILITIES: ("was kannst du", "deine fähigkeiten", "welche werkzeuge", "welche funktionen", "welche tools"),
    },
    "fr": {
        "image": ("image*", "photo*", "dessin*", "avatar*", "capture d'écran"),
        "media-analysis": ("pièce jointe", "pièces jointes", "message vocal", "vidéo*", "enregistrement*"),
        "memory": (
            "souviens-toi",
            "rappelle-toi",
            "retiens",
            "mémoris*",
            "mémoire",
            "n'oublie pas",
            "oublie*",
            "note que",
        ),
        "reminder": ("rappelle-moi", "rappel", "rappels", "réveille-moi", "préviens-moi", "minuteur"),
        "thread": ("ouvre un fil", "crée un fil", "nouveau fil", "un fil de discussion"),
        "sticker": ("sticker*", "autocollant*"),
        "message-action": ("réagis", "réaction*", "épingle*", "supprime le message", "horodatage"),
        "search": ("cherche*", "recherche*", "trouve*", "où est", "où sont", "où se trouve"),
        FILES: ("fichier*", "dossier*", "répertoire*", "projet*", "code source", "dépôt"),
        "time": ("quelle heure", "quel jour", "quelle date", "fuseau horaire", "combien de temps avant"),
        CAPABILITIES: ("que peux-tu faire", "que sais-tu faire", "tes capacités", "quels outils", "tes outils"),
    },
    "es": {
        "image": ("imagen*", "imágenes", "foto*", "dibujo*", "avatar*", "captura de pantalla"),
        "media-analysis": ("adjunto*", "archivo adjunto", "nota de voz", "mensaje de voz", "vídeo*", "grabación*"),
        "memory": ("recuerda que", "recuerdas", "no olvides", "olvida*", "memoriza*", "memoria", "ten en cuenta"),
        "reminder": ("recuérdame", "recordatorio*", "avísame", "despiértame", "alarma", "temporizador"),
        "thread": ("abre un hilo", "crea un hilo", "nuevo hilo", "hilo nuevo", "un hilo"),
        "sticker": ("sticker*", "pegatina*"),
        "message-action": ("reacciona*", "reacción*", "fija este mensaje", "borra el mensaje", "marca de tiempo"),
        "search": ("busca*", "encuentra*", "dónde está", "dónde están", "dónde se"),
        FILES: ("archivo*", "fichero*", "carpeta*", "directorio*", "proyecto*", "código fuente", "repositorio*"),
        "time": ("qué hora", "qué día", "qué fecha", "zona horaria", "cuánto falta"),
        CAPABILITIES: (
            "qué puedes hacer",
            "qué sabes hacer",
            "tus capacidades",
            "qué herramientas",
            "tus herramientas",
        ),
    },
}

FOLLOW_UPS: tuple[str, ...] = (
    r"(?:do|try|make|send|run|show|use|read|say) (?:that|it|this|them|those|the same)(?: thing| one)?"
    r"(?: again| once more| too| for| with| but|[.!?]*$)",
    r"(?:once|one time|one) more|(?:once|yet) again|again(?:,? (?:please|pls))?[.!?]*$|another one|use that",
    r"(?:the )?same (?:thing|again|with|for|but|one|in|on)|^(?:but|and|now) (?:with|for|in) (?:the|this|that|an?|my)",
    r"repeat(?: that| it| this)?|retry|redo|^(?:yes,? |ok(?:ay)?,? )?(?:(?:please|pls)[.!]*$|continue|go (?:ahead|on))",
)
"""What refers to what was done before, like `PHRASES`."""

FOLLOW_UP_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "de": ("nochmal*", "noch einmal", "noch mal", "dasselbe", "das gleiche", "mach weiter", "wiederhol*"),
    "fr": ("encore une fois", "de nouveau", "refais*", "pareil*", "la même chose", "la même avec"),
    "es": ("otra vez", "de nuevo", "hazlo", "lo mismo", "repite*", "una vez más", "continúa"),
}

_MAX_NAME_CHARS = 300
_FILE_NAMES = frozenset({"makefile", "dockerfile", "license", "procfile", "gemfile", "jenkinsfile", "caddyfile"})
_EXTENSIONS = (
    r"(?:bash|bat|c|cc|cfg|conf|cpp|cs|css|csv|env|go|h|hpp|htm|html|ini|ipynb|java|js|json|jsonl|jsx|kt|lock|log|lua|md|"
    r"mjs|php|pl|proto|ps1|py|pyi|rb|rs|rst|scss|sh|sql|svelte|swift|tex|toml|ts|tsv|tsx|txt|vue|xml|yaml|yml|zig|zsh)"
)
_FILE = re.compile(
    rf"""(?xi)
    (?: \.{{0,2}} ~? / )? (?: [\w@+~.-]+ / )* [\w@+~-]+ (?: \. [\w@+~-]+ )* \. {_EXTENSIONS}   # by its ending
    | (?: \.{{1,2}} | ~ ) / [\w@+~./-]+ | / [^\W\d] [\w@+~./-]+                                # ./here, /there
    | (?: [\w@+~.-]{{2,}} / )+                                                                 # folder/
    | (?: [\w@+~.-]* [^\W\d] [\w@+~.-]* / ){{2,}} [\w@+~.-]+                                  # a/b/c
    | \. (?: env | gitignore | dockerignore | editorconfig ) (?: \. \w+ )?
    """
)


def intents_of(text: str) -> Iterator[tuple[str, str]]:
    """The subjects that a message is about, each with the words that say so, in the order of the table."""
    folded = fold(text)
    for subject, pattern in _PATTERNS.items():
        if found := pattern.search(folded):
            yield subject, label(found[0])
        elif subject == FILES and (name := file_in(text)):
            yield subject, label(name)


def follow_up_in(text: str) -> str:
    """The words that refer to what was done before, or nothing."""
    found = _FOLLOW_UP.search(fold(text))
    return label(found[0]) if found else ""


def file_in(text: str) -> str:
    """The first word that can only be the name of a file or folder, or nothing. Addresses are none."""
    words = (word.strip("`'\"()[]{}<>,;:!?*").rstrip(".") for word in text[:MAX_TEXT_CHARS].split())
    return next((word for word in words if _is_file(word)), "")


def _is_file(word: str) -> bool:
    if len(word) > _MAX_NAME_CHARS or "://" in word:
        return False
    return word.lower() in _FILE_NAMES or _FILE.fullmatch(word) is not None


def _pattern(phrases: tuple[str, ...], keywords: Iterable[str]) -> re.Pattern[str]:
    either = "|".join([rf"(?:{'|'.join(phrases)})(?!\w)", *map(literal, keywords)])
    return re.compile(rf"(?<!\w)(?:{either})")  # one bound before all: nothing is tried in the middle of a word


_PATTERNS: Mapping[str, re.Pattern[str]] = {
    subject: _pattern(phrases, (word for pack in KEYWORDS.values() for word in pack.get(subject, ())))
    for subject, phrases in PHRASES.items()
}
_FOLLOW_UP = _pattern(FOLLOW_UPS, (word for pack in FOLLOW_UP_KEYWORDS.values() for word in pack))
