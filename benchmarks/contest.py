"""Lets programs that read the same file take turns, and compares their times.

Each program runs in processes of its own: once to be timed as a whole, with the start of Python
and all imports, and once to read several times, of which the best counts. The programs take turns,
so that what else the machine does falls on all of them alike.
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
print(json.dumps([min(times), found]))
"""


@dataclass(frozen=True)
class Times:
    """Seconds, each the median over the turns."""

    process: float
    """Start of Python, imports, and one reading."""
    reading: float
    """The best of several readings in one process."""


def program(imports: str, body: str, readings: int = READINGS) -> str:
    """A program that reads ``path`` several times; ``body`` returns what it found."""
    indented = "\n".join(f"    {line}" for line in body.strip().splitlines())
    return _FRAME.format(imports=imports.strip(), body=indented, readings=readings)


def contest(
    rivals: Mapping[str, tuple[str, str]], path: Path, turns: int
) -> dict[str, tuple[Times, object]]:
    """Times and findings of each rival (imports and body) on one file."""
    runs: dict[str, list[tuple[float, float, object]]] = {name: [] for name in rivals}
    for turn in range(turns + 1):
        for name, (imports, body) in rivals.items():
            whole, _, _ = _run(program(imports, body, readings=1), path)
            _, reading, found = _run(program(imports, body), path)
            if turn:  # the first fills the caches of the disk and of the compiler
                runs[name].append((whole, reading, found))
    return {
        name: (Times(*(statistics.median(turn[i] for turn in taken) for i in (0, 1))), taken[-1][2])
        for name, taken in runs.items()
    }


def _run(code: str, path: Path) -> tuple[float, float, object]:
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    seconds = time.perf_counter() - begin
    reading, found = json.loads(done.stdout)
    return seconds, reading, found


def show(title: str, times: Mapping[str, Times]) -> None:
    """Print a table of seconds."""
    print(f"\n{title}\n{'':24}{'whole process':>15}{'reading':>15}")
    for name, taken in times.items():
        print(f"{name:24}{taken.process:14.2f}s{taken.reading:14.3f}s")
