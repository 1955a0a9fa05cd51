"""What a log line carries besides its quantities: time stamps, ranks, levels, places in source.

Hidden before a line is read, so that the seconds of a time stamp or the number of a rank are
never taken for a quantity; what is hidden also ends the name before it.
"""

import re
from dataclasses import dataclass

HIDDEN = "\x1f"  # to Python a blank, so that what ignores blanks ignores it, too

_STAMP = (
    r"\d{4}[-/]\d{2}[-/]\d{2}[T ,_]\s?\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
    r"(?:Z|\s?[+-]\d{2}:?\d{2}(?!\d))?"
)
_RANK = (
    r"\[(?:default|rank|local_rank|worker|proc(?:ess)?|gpu|GPU|Rank|RANK)[ _:=-]?\d+\]:?"
    r"|(?<![\w/])[Rr]ank[ :=]\s?\d+(?=[\s:,|\]])|\[\d+,\d+\]<std(?:out|err)>:?"
)
_LEVEL = r"(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)"
_LOGGER = rf"-\s+[\w.]+\s*[:-]\s*\[?\s*{_LEVEL}\s*\]?(?:\s+-)?"
"""Name and level between stamp and message: ``- train: [    INFO] - ``, ``- root - INFO - ``."""
_NAMED = (
    r"(?!(?i:val|eval|test|dev|epoch|step|iter|batch|update|ep\b|it\b|\w*(?:loss|acc|lr|norm|ppl|reward)))"
    r"[A-Za-z_][\w.]*:(?=\s*(?:\[\s*\d+\s*/|(?!(?i:nan|inf)\b)[A-Za-z]))"
)
"""Name of a logger between the level and the message; before a number it may be a quantity's."""
_NOISE = (
    rf"(?P<stamp>(?<![\w.]){_STAMP})(?:\s+{_LOGGER})?"
    rf"|{_RANK}"
    r"|(?<![\w.])\d{1,2}/\d{1,2}(?:/\d{2,4})?,? \d{1,2}:\d{2}:\d{2}"
    r"|(?<!\w)(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {1,2}\d{1,2} \d{2}:\d{2}:\d{2}"
    r"(?: (?:[A-Z]{3,4} )?\d{4})?"
    r"|^[IWEF]\d{4} \d{2}:\d{2}:\d{2}\.\d+\s+\d+"
    r"|\[[IWEF]\d{3,4} \d{2}:\d{2}:\d{2}\.\d+(?: \d+)?"
    r"|(?<![\w.])\d+ days?, "
    r"|(?<![\w.])\d{1,4}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?![\w.:])"
    r"|(?<![\w./-])[\w./-]+\.(?:py|cpp|cc|cu|cuh|hpp|h|c|rs)[:(]\d+\)?(?::\w+)?"
    r"|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?"
    rf"|\([\w.]+:\d+\)(?=\s*{_LEVEL}\b)"
    r"|0x[0-9a-fA-F]+|\(\w+ pid=\d+[^)]*\)|^wandb: .*"
    r"|(?<=\| )[\w.<>]+:[\w.<>]+:\d+(?=\s*[-|])"  # loguru: module, function, line
    rf"|(?<!\w){_LEVEL}(?!\w):?(?:\s*{_NAMED})?"
)
_MASK = re.compile(_NOISE)
_LABEL = re.compile(r"^\s*\d{1,4}:\s(?=\s*[A-Za-z\[{|(])")
_PREFIX = re.compile(
    rf"^(?:\s*+(?:\[?(?:{_STAMP}|{_RANK}|\d{{2}}:\d{{2}}:\d{{2}}(?:[.,]\d+)?)\]?:?|\[[A-Z]+\]|[-|]?\s*+(?:DEBUG|INFO|WARNING|ERROR)\b[\]:|-]*"
    rf"|{_LOGGER}|\|\s*[\w.<>]+:[\w.<>]+:\d+\s+-|\[[\w.-]+\.py:\d+(?::\w+)?\]|\d{{1,4}}:(?=\s+\S)))+\s?"
)


@dataclass(frozen=True)
class Masked:
    """A line in which everything that is no quantity is hidden; positions are unchanged."""

    text: str
    stamp: tuple[int, int] | None
    """Where the full time stamp stands."""


def mask(line: str) -> Masked:
    """Hide time stamps, ranks, levels and places in source code."""
    stamp: tuple[int, int] | None = None

    def hide(match: re.Match[str]) -> str:
        nonlocal stamp
        if stamp is None and match["stamp"]:
            stamp = match.span("stamp")
        return HIDDEN * (match.end() - match.start())

    return Masked(_MASK.sub(hide, line), stamp)


def hide_label(text: str) -> str:
    """Hide ``0: `` at the front, the rank that ``srun --label`` puts before each line."""
    match = _LABEL.match(text)
    return text if match is None else HIDDEN * match.end() + text[match.end() :]


def strip_prefix(line: str) -> str:
    """The message of a log line, without time stamp, rank, level and place in source."""
    return _PREFIX.sub("", line)
