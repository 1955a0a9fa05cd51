r"""The command that started a run: ``run.sh``, ``train.slurm``, ``args.txt``.

What this reads, by example::

    LR=2e-5
    torchrun --nproc_per_node 8 train.py --learning_rate $LR \
        --bf16 True

A text file named after a command (``cmd.txt``, ``args``) counts where one stands in it, or what
``argparse`` made of it: ``Namespace(lr=2e-5, …)``.
The script is read as text, never run: variables that are assigned plain values are put in, and of
several commands the one with the most settings counts.
"""

import re

from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._text.commands import read_command
from forensics.readers._text.literals import read_arguments

MAX_BYTES = 1 << 18
_SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".pbs", ".cmd")
_OF_A_COMMAND = re.compile(
    r"(?:.*[-_.])?(?:arg(?:ument)?s?|cmd(?:line)?|command(?:[-_]?line)?|launch|invocation)(?:\.txt)?",
    re.IGNORECASE,
)
_PARSED = re.compile(r"^\w*(?:Namespace|Arguments|Args)\((.+)\)$")
_PROGRAM = re.compile(rb"python|torchrun|deepspeed|accelerate|srun|llamafactory|axolotl|swift")
_VARIABLE = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)=(['\"]?)([^'\"$`;&|()]*)\2\s*(?:#.*)?$")
_USE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def sniff(probe: Probe) -> bool:
    """A short shell script that starts a program, or the line that did."""
    if probe.size > MAX_BYTES:
        return False
    if probe.path.suffix in _SUFFIXES:
        return _PROGRAM.search(probe.head) is not None
    if not _OF_A_COMMAND.fullmatch(probe.path.name):
        return False
    lines = _logical_lines(probe.head.decode("utf-8", "replace"))
    return any(_settings_of(line.strip()) for line in lines)


def read(probe: Probe, progress: Progress) -> Reading:
    """Read the arguments of the command with the most of them; a script without any gives none."""
    data = probe.path.read_bytes()
    progress(len(data))
    variables: dict[str, str] = {}
    best: dict[str, object] = {}
    for line in _logical_lines(data.decode("utf-8", "replace")):
        assigned = _VARIABLE.match(line)
        if assigned:
            variables[assigned[1]] = assigned[3].strip()
            continue
        settings = _settings_of(_with_values(line.strip(), variables))
        best = settings if len(settings) > len(best) else best
    return Reading(settings=best, summary=f"{len(best)} settings, script not run")


def _settings_of(line: str) -> dict[str, object]:
    parsed = _PARSED.match(line)
    return read_arguments(parsed[1]) if parsed else read_command(line) or {}


def _logical_lines(text: str) -> list[str]:
    return re.sub(r"\\\r?\n", " ", text).splitlines()


def _with_values(line: str, variables: dict[str, str]) -> str:
    """Put known variables in; an unknown one stays as it is written."""
    return _USE.sub(lambda use: variables.get(use[1] or use[2], use[0]), line)


READER = Reader("launch script", 43, sniff, read)
