"""Reading a large metrics.csv: forensics against the engines of pandas.

Step, loss, gradient norm and learning rate in full precision, a NaN now and then. forensics tells
the NaN from an empty cell, chooses the x-axis and returns series; pandas returns a frame. All must
find the same sums.

    python benchmarks/read_csv.py           # 1,000,000 rows
    python benchmarks/read_csv.py --quick   # 200,000 rows
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from contest import contest, show

FORENSICS = (
    """
from pathlib import Path
from forensics.readers._base import Probe, no_progress
from forensics.readers.csv_log import READER
""",
    """
probe = Probe(Path(path), Path(path).parent, Path(path).stat().st_size)
assert READER.sniff(probe)
series = READER.read(probe, no_progress).series
return [len(series[0].step), *(float(s.value[s.value == s.value].sum()) for s in series)]
""",
)
PANDAS = """
frame = pd.read_csv(path, engine="{engine}")
return [len(frame), *(float(frame[name].sum()) for name in ("loss", "grad_norm", "lr"))]
"""


def write(path: Path, rows: int) -> None:
    """A training of this many steps, as most people log it."""
    random = np.random.default_rng(0)
    loss = 2 + 0.1 * random.standard_normal(rows)
    loss[::100_003] = np.nan
    norm = np.abs(random.standard_normal(rows))
    rate = 1e-4 * (1 - np.arange(rows) / rows)
    columns = zip(loss.tolist(), norm.tolist(), rate.tolist(), strict=True)
    with path.open("w") as file:
        file.write("step,loss,grad_norm,lr\n")
        file.writelines(f"{i},{a!r},{b!r},{c!r}\n" for i, (a, b, c) in enumerate(columns))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="200,000 rows instead of a million")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    rows = 200_000 if options.quick else 1_000_000
    engines = {"c": "", "pyarrow": "import pyarrow\n"}
    rivals = {"forensics": FORENSICS}
    for engine, extra in engines.items():
        try:
            exec(extra)
        except ImportError:
            print(f"pandas' engine {engine} is not installed: left out")
            continue
        rivals[f"pandas, {engine}"] = ("import pandas as pd\n", PANDAS.format(engine=engine))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "metrics.csv"
        write(path, rows)
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB")
        results = contest(rivals, path, options.turns)
    mine, mine_found = results["forensics"]
    for name, (_, found) in results.items():
        assert np.allclose(found, mine_found, rtol=1e-9), f"{name} found something else"
    show("seconds, median of the turns", {name: times for name, (times, _) in results.items()})
    others = [times for name, (times, _) in results.items() if name != "forensics"]
    for kind in ("process", "reading"):
        ratio = getattr(mine, kind) / min(getattr(times, kind) for times in others)
        print(f"forensics / fastest engine, {kind}: {ratio:.2f}")


if __name__ == "__main__":
    main()
