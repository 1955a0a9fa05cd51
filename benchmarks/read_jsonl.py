"""Reading a large trainer_log.jsonl: forensics against ``json.loads`` a line.

Step, loss (a NaN now and then), gradient norm and learning rate in full precision; with ``--mixed``
every tenth line is one of evaluation, and a text changes in each line. Both must find the same.

    python benchmarks/read_jsonl.py           # 1,000,000 lines
    python benchmarks/read_jsonl.py --quick   # 200,000 lines
"""

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
from contest import contest, show

FORENSICS = (
    """
from pathlib import Path
from forensics.readers._base import Probe, no_progress
from forensics.readers.json_lines import READER
""",
    """
probe = Probe(Path(path), Path(path).parent, Path(path).stat().st_size)
assert READER.sniff(probe)
series = {s.tag: s for s in READER.read(probe, no_progress).series}
loss = series["loss"].value
return [len(loss), float(loss[loss == loss].sum()), float(series["grad_norm"].value.sum())]
""",
)
ONE_BY_ONE = (
    "import json\n",
    """
losses, norms = [], []
with open(path) as file:
    for line in file:
        row = json.loads(line)
        if "loss" in row:
            losses.append(row["loss"])
            norms.append(row["grad_norm"])
return [len(losses), sum(x for x in losses if x == x), sum(norms)]
""",
)


def write(path: Path, rows: int, mixed: bool) -> None:
    """A training of this many steps, one JSON object a line."""
    random = np.random.default_rng(0)
    loss = 2 + 0.1 * random.standard_normal(rows)
    loss[::1003] = np.nan
    norm = np.abs(random.standard_normal(rows))
    rate = 1e-4 * (1 - np.arange(rows) / rows)
    columns = zip(loss.tolist(), norm.tolist(), rate.tolist(), strict=True)
    with path.open("w") as file:
        for step, (a, b, c) in enumerate(columns):
            row: dict[str, object] = {"step": step, "loss": a, "grad_norm": b, "learning_rate": c}
            if mixed and step % 10 == 9:
                row = {"step": step, "eval_loss": a, "epoch": step / rows}
            if mixed:
                row["elapsed"] = f"0:{step // 60 % 60:02}:{step % 60:02}"
            file.write(json.dumps(row) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="200,000 lines instead of a million")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    rows = 200_000 if options.quick else 1_000_000
    rivals = {"forensics": FORENSICS, "json.loads a line": ONE_BY_ONE}
    for mixed in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trainer_log.jsonl"
            write(path, rows, mixed)
            megabytes = path.stat().st_size / 1e6
            results = contest(rivals, path, options.turns)
        (mine, found), (other, other_found) = results.values()
        assert np.allclose(found, other_found, rtol=1e-9), "they found different things"
        kind = "lines of training and evaluation" if mixed else "lines alike"
        title = f"{rows:,} {kind}, {megabytes:.0f} MB: seconds, median of the turns"
        show(title, {name: times for name, (times, _) in results.items()})
        for part in ("process", "reading"):
            print(
                f"json.loads / forensics, {part}: {getattr(other, part) / getattr(mine, part):.1f}"
            )


if __name__ == "__main__":
    main()
