"""Reads the command line that started a run, where the log shows it."""

import re
import shlex
from typing import Any

from forensics.readers._text.literals import read_value

_PROGRAM = (
    r"(?:[\w.~/-]{0,200}/)?(?:python[\d.]*|torchrun|deepspeed|accelerate\s+launch|llamafactory-cli|axolotl|fairseq-\w+|"
    r"tune\s+run|srun|mpirun|horovodrun|colossalai\s+run|swift\s+(?:sft|pt|rlhf))"
)
_WORDS = (
    "python",
    "run ",
    "deepspeed",
    "accelerate",
    "-cli",
    "axolotl",
    "fairseq",
    "srun",
    "colossalai",
    "swift",
)
_COMMAND = re.compile(
    rf"^\W{{0,12}}(?:(?:cmd|command|running(?: command)?|launch command|command line)\s*[:=]\s*)?"
    rf"(?:[A-Z_][A-Z0-9_]*=\S+\s+)*{_PROGRAM}\s+(?P<rest>.+)$",
    re.DOTALL,
)
_ASSIGNMENT = re.compile(r"^[+~]{0,2}(?P<key>[A-Za-z_][\w./@-]*)=(?P<value>.*)$", re.DOTALL)
_NEGATIVE = re.compile(r"^-\.?\d")
_SCRIPT = re.compile(r"\.py$|^-m$|^(?:train|sft|pt|rlhf)$|\.ya?ml$")


def read_command(line: str) -> dict[str, Any] | None:
    """The settings on a command line; None where the line is none.

    ``--lr 5e-5``, ``--lr=5e-5``, hydra's ``model.depth=4`` and switches (True) are read; a dash
    inside a name becomes an underscore, as argparse has it.
    """
    match = _COMMAND.match(line) if any(word in line for word in _WORDS) else None
    if match is None:
        return None
    tokens = _split(match["rest"])
    if not any(_SCRIPT.search(token) for token in tokens):
        return None
    return _read_tokens(tokens)


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an unbalanced quote: the line was cut
        return text.split()


def _read_tokens(tokens: list[str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    key = ""
    values: list[str] = []

    def close() -> None:
        if key:
            read = [read_value(value) for value in values]
            settings[key] = True if not read else read[0] if len(read) == 1 else read

    for token in tokens:
        if token.startswith("-") and not _NEGATIVE.match(token):
            close()
            name, equals, value = token.lstrip("-").partition("=")
            key = name.replace("-", "_") if len(name) > 1 else ""
            values = [value] if equals else []
        elif (assignment := _ASSIGNMENT.match(token)) and (not key or values):
            close()
            key, values = "", []
            settings[assignment["key"]] = read_value(assignment["value"])
        elif key:
            if token.endswith(".py") and values:
                continue  # the script after a launcher's own switches
            values.append(token)
    close()
    return settings
