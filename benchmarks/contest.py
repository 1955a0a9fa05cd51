"""Lets programs that read the same file take turns, and compares their times.

Each program runs in a process of its own and prints the seconds of its first and of its best
reading and what it found. The programs take turns, so that what else the machine does falls on
all of them alike.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

READINGS = 5

_FRAME = """
import json, sys, time
path = sys.argv[1]
{imports}
def read():
{body}
times = []
for _ in range({readings}):
    begin = time.perf_counter()
    found = read()
    times.append(time.perf_counter() - begin)
print(json.dumps([times[0], min(times), found]))
"""


@dataclass(frozen=True)
class Times:
    """Seconds, each the median over the turns."""

    process: float
    """Start of Python, imports, and one reading."""
    first: float
    best: float


def program(imports: str, body: str, readings: int = READINGS) -> str:
    """A program that reads ``path`` several times; ``body`` returns what it found."""
    indented = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return _FRAME.format(imports=imports.strip(), body=indented, readings=readings)


def contest(
    rivals: Mapping[str, tuple[str, str]], path: Path, turns: int
) -> dict[str, tuple[Times, object]]:
    """Times and findings of each rival (imports and body) on one file."""
    runs: dict[str, list[tuple[float, float, float, object]]] = {name: [] for name in rivals}
    for turn in range(turns + 1):
        for name, (imports, body) in rivals.items():
            once = _run(program(imports, body, readings=1), path)
            again = _run(program(imports, body), path)
            if turn:  # the first fills the caches of the disk and of the compiler
                runs[name].append((once[0], again[1], again[2], again[3]))
    return {
        name: (
            Times(*(statistics.median(turn[i] for turn in taken) for i in range(3))),
            taken[-1][3],
        )
        for name, taken in runs.items()
    }


def _run(code: str, path: Path) -> tuple[float, float, float, object]:
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - begin
    first, best, found = json.loads(done.stdout)
    return seconds, first, best, found


def show(title: str, times: Mapping[str, Times]) -> None:
    """Print a table of seconds."""
    print(f"\n{title}\n{'':24}{'whole process':>15}{'first reading':>15}{'best reading':>15}")
    for name, taken in times.items():
        print(f"{name:24}{taken.process:14.2f}s{taken.first:14.3f}s{taken.best:14.3f}s")
