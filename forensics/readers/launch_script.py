r"""The shell script that started a run: ``run.sh``, ``train.slurm``.

What this reads, by example::

    LR=2e-5
    torchrun --nproc_per_node 8 train.py --learning_rate $LR \
        --bf16 True

The script is read as text, never run: variables that are assigned plain values are put in, and of
several commands the one with the most settings counts.
"""

import re

from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._text.commands import read_command

MAX_BYTES = 1 << 18
_SUFFIXES = (".sh", ".bash", ".slurm", ".sbatch", ".pbs", ".cmd")
_PROGRAM = re.compile(rb"python|torchrun|deepspeed|accelerate|srun|llamafactory|axolotl|swift")
_VARIABLE = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)=(['\"]?)([^'\"$`;&|()]*)\2\s*(?:#.*)?$")
_USE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def sniff(probe: Probe) -> bool:
    """A short shell script that starts a program."""
    if probe.path.suffix not in _SUFFIXES or probe.size > MAX_BYTES:
        return False
    return _PROGRAM.search(probe.head) is not None


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
        settings = read_command(_with_values(line.strip(), variables)) or {}
        best = settings if len(settings) > len(best) else best
    return Reading(settings=best, summary=f"{len(best)} settings, script not run")


def _logical_lines(text: str) -> list[str]:
    return re.sub(r"\\\r?\n", " ", text).splitlines()


def _with_values(line: str, variables: dict[str, str]) -> str:
    """Put known variables in; an unknown one stays as it is written."""
    return _USE.sub(lambda use: variables.get(use[1] or use[2], use[0]), line)


READER = Reader("launch script", 43, sniff, read)
