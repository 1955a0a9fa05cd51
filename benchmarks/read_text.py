"""Reading a long training log: forensics against the loop that people write.

The rival knows the names and shape of the lines beforehand: one regular expression per line,
``float`` and ``append``. forensics is told nothing, and looks for tracebacks, overflows, resumes
and settings besides. Three makes of logs: plain lines, lines with time stamps and evaluations in
between, and the repaints of a progress bar. Both must find the same sums.

    python benchmarks/read_text.py           # 1,000,000 lines each
    python benchmarks/read_text.py --quick   # 200,000 lines each
"""

import argparse
import random
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from contest import contest, show

FORENSICS = (
    """
from pathlib import Path
from forensics.readers._base import Probe, no_progress
from forensics.readers.text_log import READER
""",
    """
probe = Probe(Path(path), Path(path).parent, Path(path).stat().st_size)
assert READER.sniff(probe)
series = {s.tag: s for s in READER.read(probe, no_progress).series}
loss = series["loss"].value
return [len(loss), round(float(loss[loss == loss].sum()), 3)]
""",
)
LOOP = """
points = {{}}
with open(path, newline="{newline}") as file:
    for line in file:
        match = LINE.search(line)
        if match is None:
            continue
        step = int(match[1])
        for name, number in PAIR.findall(line):
            points.setdefault(name, []).append((step, float(number)))
loss = [value for _, value in points["loss"]]
return [len(loss), round(sum(value for value in loss if value == value), 3)]
"""
LOOP_IMPORTS = r"""
import re
LINE = re.compile(r"{line}")
PAIR = re.compile(r"(\w[\w/]*)[:=]? ?=?([-+]?\d+\.\d+(?:e[-+]?\d+)?|nan|inf)")
"""


def plain(rows: int) -> Iterator[str]:
    """One make of line only."""
    for step in range(rows):
        loss = "nan" if step % 100_003 == 99 else f"{2 + random.random():.4f}"
        norm, rate = random.random(), 1e-4 * (1 - step / rows)
        yield f"step: {step} | loss: {loss} | grad_norm: {norm:.4f} | lr: {rate:.3e}\n"


def stamped(rows: int) -> Iterator[str]:
    """With time stamps, an evaluation and a checkpoint every 500 steps."""
    for step in range(rows):
        second = datetime(2026, 8, 22) + timedelta(seconds=step)
        clock = f"{second:%Y-%m-%d %H:%M:%S},{step % 1000:03d} - INFO -"
        loss, took = 2 + random.random(), random.random()
        yield f"{clock} iter {step}: loss {loss:.4f}, time {took:.2f}ms\n"
        if step % 500 == 0:
            yield f"{clock} step {step}: val loss {loss:.4f}\nsaving checkpoint to out\n"


def bars(rows: int) -> Iterator[str]:
    """Repaints of one progress bar."""
    for step in range(1, rows + 1):
        drawing = "█" * (10 * step // rows)
        clock = f"{step // 3600:02d}:{step // 60 % 60:02d}<10:00,  9.5it/s"
        loss = 2 + random.random()
        yield f"\r{100 * step // rows:3d}%|{drawing:10}| {step}/{rows} [{clock}, loss={loss:.4f}]"
    yield "\n"


MAKES = {
    "plain lines": (plain, r"^step: (\d+)", r"\n"),
    "stamps and evaluations": (stamped, r"iter (\d+): ", r"\n"),
    "progress bar": (bars, r"\| (\d+)/\d+ \[", r"\r"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="200,000 lines instead of a million")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    rows = 200_000 if options.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.log"
        for name, (lines, pattern, newline) in MAKES.items():
            random.seed(0)
            path.write_text("".join(lines(rows)), newline="")
            imports = LOOP_IMPORTS.replace("{line}", pattern)
            rivals = {"forensics": FORENSICS, "loop": (imports, LOOP.format(newline=newline))}
            results = contest(rivals, path, options.turns)
            (mine, found), (rival, expected) = results["forensics"], results["loop"]
            assert found == expected, f"{found} is not {expected}"
            title = f"{name}: {rows:,} lines, {path.stat().st_size / 1e6:.0f} MB"
            show(title, {"forensics": mine, "loop": rival})
            for kind in ("process", "reading"):
                print(f"loop / forensics, {kind}: {getattr(rival, kind) / getattr(mine, kind):.2f}")


if __name__ == "__main__":
    main()
