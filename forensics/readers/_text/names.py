"""Finds the name in what stands before a number."""

import re

from forensics.readers._text.masks import HIDDEN
from forensics.signals import Signal, classify

_BOUNDARY = re.compile(rf"[|,;\t{{}}<>•\"'{HIDDEN}]|\s{{2,}}|(?:^|\s)[-–*>#]+\s|[.!?]\s|[:=]")
_PART_OF_LOG = re.compile(r"(?i:^\[(?:train|valid|val|test|eval|dev)\w*\]\s+(?=\w))")
"""``[train] iter_time=…``: what the names after it belong to is told by the mode."""
_OF_A_PART = re.compile(r"(?i:^(?:train|eval) (?=\w[\w-]*/\S+$))")
_TRIM = " \t-–*>#•.()[]/"
_COPULA = re.compile(r"\s+(?:is|was|of|at|to|in|for|after|@|=)$", re.IGNORECASE)
_NOT_MEASURED = re.compile(
    r"(?i:\b(?:best|lowest|highest|previous|prev|target|threshold|patience)\b)"
)
_CATCH_ALL = {Signal.OTHER, Signal.IGNORED, Signal.LOSS_COMPONENT}
_STOPWORDS = frozenset(
    re.findall(r"\w+", "with and the a an of in on at to for from by is was no or as per than")
)
_NAME = re.compile(r"^(?!www\.)[^\W\d][^?~!&]*$|^\d+[^\W\d][^?~!&]*$")
_LONGEST_NAME = 80
_UNKNOWN = {Signal.OTHER, Signal.STEP, Signal.EPOCH, Signal.TOTAL_STEPS}


def _last_part(body: str) -> str:
    """What follows the last thing that cannot be inside a name."""
    cut = 0
    for match in _BOUNDARY.finditer(body.rstrip(" \t")):
        cut = match.end()
    part = body[cut:]
    for opening, closing in ("[]", "()"):
        depth = 0
        for position in range(len(part) - 1, -1, -1):
            depth += (part[position] == closing) - (part[position] == opening)
            if depth < 0:
                part = part[position + 1 :]
                break
    return _PART_OF_LOG.sub("", part.strip()).lstrip(_TRIM).rstrip()


def strong_name(body: str, tight: bool) -> str:
    """The name before ``:`` or ``=``; ``tight`` where no blank stands around that."""
    name = _last_part(body)
    inner = _OF_A_PART.sub("", name)
    name = inner if classify(inner) is classify(name) else name
    words = name.split()
    while len(words) > 1 and words[0][0].isdigit():
        words.pop(0)  # the end of a value nobody named
    name = " ".join(words) if len(words) < len(name.split()) else name
    bare = name[: name.rfind("(")].rstrip() if name.endswith(")") else ""
    if bare and classify(name) is Signal.OTHER and classify(bare) is not Signal.OTHER:
        return bare  # acc (higher is better)
    if len(words) > 1 and classify(name) in _CATCH_ALL:
        slashed = next((k for k, word in enumerate(words) if "/" in word), None)
        if slashed is not None:
            name = " ".join(words[slashed:])
        elif tight:
            name = words[-1]
        elif len(words) > 6:
            name = _known_suffix(words)
    return name if len(name) <= _LONGEST_NAME and _NAME.match(name) else ""


def weak_name(body: str) -> str:
    """The name before a blank, which has to be a known one."""
    part = _COPULA.sub("", _last_part(body))
    return "" if _NOT_MEASURED.search(part) else _known_suffix(part.split())


def name_before_counter(body: str) -> str:
    """The name in ``loss at step 100: ``, where the counter stands between it and its number."""
    head, found, tail = body.rpartition(HIDDEN)
    if not found or tail.strip(" :=-)]") not in ("", "is", "was"):
        return ""
    return weak_name(head.rstrip(HIDDEN + " (["))


def _known_suffix(words: list[str]) -> str:
    """The longest run of at most three last words that names a known quantity, or ''."""
    for count in (3, 2, 1):
        tail = words[-count:]
        if len(tail) < count or _STOPWORDS.intersection(word.lower() for word in tail):
            continue
        name = " ".join(tail)
        if classify(name) not in _UNKNOWN and len(name) <= _LONGEST_NAME:
            return name
    return ""
