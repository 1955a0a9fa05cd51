"""What a rule about lines that prove something is.

A rule is asked only about lines that hold one of its words. One false kind is worse than a
missing one: each phrase is what a program prints when the thing happens, and ``_TALK`` drops
lines that merely speak of it (advice, settings, switches).
"""

import re
from dataclasses import dataclass

from forensics.run import TextKind


@dataclass(frozen=True)
class Rule:
    """Lines of one kind."""

    kind: TextKind
    words: tuple[str, ...]
    """In lower case; one of them is in every such line."""
    pattern: re.Pattern[str]

    def holds(self, line: str) -> bool:
        """Whether the line proves it."""
        return self.pattern.search(line) is not None and _TALK.search(line) is None


_TALK = re.compile(
    "(?i:"
    r"\b(?:to (?:avoid|prevent)|in case of|if you (?:get|run|see|encounter|hit|want)|might"
    r"|(?:may|could|can) (?:cause|lead|result|run|be)"
    r"|will (?:be checked|check|stop if|abort if|terminate)"
    r"|check(?:ing)? for|checks? whether|detect_anomaly)\b"
    r".{0,40}(?:out of memory|oom|nan|inf\b|non-?finite|overflow|killed|resume)"
    r"|(?<!-)--[\w-]*(?:nan|inf|oom)\w*|number of (?:skipped|nan) iterations"
    r"|(?:nan|inf|finite|overflow|resume|oom)\w*['\"]?\s*(?:[:=]|\.{3,})\s*['\"]?(?:true|false|none|null)\b"
    ")"
)


def rule(kind: TextKind, words: tuple[str, ...], *phrases: str) -> Rule:
    """A rule of phrases, upper and lower case alike."""
    return Rule(kind, words, re.compile("(?i:" + "|".join(phrases) + ")"))


_STEP_STATED = re.compile(
    r"(?i:\b(?:iteration|iter|global[ _]step|planned_step|step)s?\s*[:=#]?\s*(?P<a>\d+)"
    r"|checkpoint[-_](?P<b>\d+)\b|@\s*(?P<c>\d+) updates"
    r"|(?<!\d)(?P<d>\d+) (?:iterations|steps|updates)\b)"
)


def stated_step(line: str) -> int | None:
    """The step that a line names, as in ``loaded checkpoint … at iteration 500``."""
    match = _STEP_STATED.search(line)
    return int(next(text for text in match.groups() if text)) if match else None
