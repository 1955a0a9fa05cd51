"""The zoo, diagnosed: ``python -m tests.zoo DIR`` prints each run and the totals.

DIR is what ``sample_runs/zoo.py make DIR`` wrote. ``--logs-only`` analyses copies without
checkpoints and captured batches. ``python -m tests.zoo clues DIR`` counts, for each clue of each
cause, among the runs of that cause and among the others, how often it held; with ``--write`` the
table is kept in the repository. ``python -m tests.zoo calibrate DIR`` holds what was said against
what was so; see `tests.zoo_clues` and `tests.zoo_calibration`.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path

from tests import zoo_calibration, zoo_clues
from tests.zoo_rows import PARTS, look, no_runs, runs_in
from tests.zoo_totals import line, table, totals

OTHERS = {"clues": zoo_clues.main, "calibrate": zoo_calibration.main}


def main(argv: list[str] | None = None) -> int:
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in OTHERS:
        return OTHERS[words[0]](words[1:])
    options = _options(words)
    folders = runs_in(options.home, options.part)
    if not folders:
        print(no_runs(options.home))
        return 2
    rows = []
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for row in pool.map(look, folders, [options.logs_only] * len(folders)):
            rows.append(row)
            if not (options.wrong and row.right and not row.false_alarm):
                print(line(row), flush=True)
    results = {p: totals([r for r in rows if r.part == p]) for p in PARTS}
    results = {p: found for p, found in results.items() if found["runs"]}
    for part, found in results.items():
        print("\n".join(table(part + (" (logs only)" if options.logs_only else ""), found)))
    if options.json:
        written = {"totals": results, "rows": [asdict(r) for r in rows]}
        options.json.write_text(json.dumps(written, indent=1))
    return 0


def _options(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description=__doc__)
    parser.add_argument("home", type=Path, help="folder that the zoo was made in")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--logs-only", action="store_true")
    parser.add_argument("--json", type=Path, help="also write rows and totals here")
    parser.add_argument("--wrong", action="store_true", help="only runs named wrongly")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
