"""The whole analysis of a long run against merely reading it, and the start of the command.

Whole processes, in turns: `forensics analyze` (read, detect, rank, draw, write the report) against
a process that only reads the same file; and `forensics --help` against `import numpy`.

    python benchmarks/analyse_run.py           # 1,000,000 steps as event files and as CSV
    python benchmarks/analyse_run.py --quick   # 50,000 steps
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import read_tensorboard

READ = "import sys; from forensics.loading import load_runs; load_runs(sys.argv[1])"
TURNS = 5


def write_run(folder: Path, steps: int) -> None:
    """A run whose loss diverges in its last tenth: loss, gradient norm and learning rate."""
    import pandas as pd

    rng = np.random.default_rng(0)
    t = np.arange(steps)
    loss = 2.0 + 8.0 * (1 + t / (steps / 200)) ** -0.7 + 0.05 * rng.standard_normal(steps)
    late = np.maximum(0, t - 0.9 * steps)
    loss += 0.05 * np.expm1(np.minimum(late * (1e3 / steps), 17.0))
    columns = {
        "step": t,
        "loss": loss,
        "grad_norm": np.exp(0.2 * rng.standard_normal(steps)),
        "lr": 1e-3 * np.minimum(1.0, t / (steps / 100)),
    }
    pd.DataFrame(columns).to_csv(folder / "metrics.csv", index=False)


def seconds(command: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def compare(title: str, ours: Sequence[str], other: Sequence[str], limit: float) -> bool:
    """Print the medians of both and their ratio; the commands take turns."""
    seconds(ours), seconds(other)  # fill the caches of the disk and of the compiler
    turns = [(seconds(ours), seconds(other)) for _ in range(TURNS)]
    mine, theirs = (statistics.median(t) for t in zip(*turns, strict=True))
    ratio = mine / theirs
    print(f"{title:46} {mine:6.2f} s against {theirs:6.2f} s: {ratio:4.2f}x (at most {limit}x)")
    return ratio <= limit


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    steps = 50_000 if parser.parse_args().quick else 1_000_000
    python = sys.executable
    with tempfile.TemporaryDirectory() as csv, tempfile.TemporaryDirectory() as events:
        write_run(Path(csv), steps)
        case = read_tensorboard.Case("run", len(read_tensorboard.TAGS) * steps, lambda _: False)
        read_tensorboard.write(Path(events) / "events.out.tfevents.1.node.1.0", case)
        good = [
            compare(
                f"analyze {steps:,} steps of {what} / read them",
                [python, "-m", "forensics", "analyze", name, "-q", "-o", f"{name}/report.html"],
                [python, "-c", READ, name],
                3.0,
            )
            for what, name in (("events", events), ("CSV", csv))
        ]
        good += [
            compare(
                "forensics --help / import numpy",
                [python, "-m", "forensics", "--help"],
                [python, "-c", "import numpy"],
                1.5,
            ),
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
