"""How often each clue held: ``python -m tests.zoo clues DIR [--part P] [--write]``.

Counts each clue of each cause among the runs of that cause and among the others. ``--write`` keeps
the table in the repository, as ``reports/clues.txt``.
"""

import argparse
import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from tests.zoo_rows import PARTS, no_runs, runs_in, without_truth

KEPT = Path(__file__).parents[1] / "reports" / "clues.txt"
Looked = tuple[set[str], dict[tuple[str, str], bool | None]]
"""A run's true causes, and (cause, clue) -> whether it held."""


@dataclass
class Count:
    """How often one clue held."""

    holds: int = 0
    not_held: int = 0
    unchecked: int = 0

    def add(self, holds: bool | None) -> None:
        if holds is None:
            self.unchecked += 1
        elif holds:
            self.holds += 1
        else:
            self.not_held += 1


def looks(folder: Path) -> Looked:
    """The run's true causes, and (cause, clue) -> whether it held."""
    import forensics
    from forensics.causes import all_causes

    truth = json.loads((folder / "truth.json").read_text())
    with tempfile.TemporaryDirectory() as place:
        case = forensics.analyze(without_truth(folder, Path(place), False)).verdict.case
        seen = {c.look: c.look(case).holds for cause in all_causes() for c in cause.clues}
    held = {(cause.name, c.name): seen[c.look] for cause in all_causes() for c in cause.clues}
    return {truth["cause"], *truth["accept"]}, held


def ratio(among: Count, others: Count, held: bool) -> float:
    """ln P(held | cause) / P(held | others), one added to each count."""
    a, b = (among.holds, others.holds) if held else (among.not_held, others.not_held)
    checked = among.holds + among.not_held, others.holds + others.not_held
    return math.log((a + 1) / (checked[0] + 2)) - math.log((b + 1) / (checked[1] + 2))


def clue_table(found: Sequence[Looked]) -> Iterator[str]:
    """Each clue's counts, and the weights they imply beside the declared ones, line by line."""
    from forensics.causes import all_causes

    yield "holds / not / unchecked among the runs of the cause and among the others;"
    yield "then for 'holds' and 'not': implied ln ratio (declared), and the clue's group"
    for cause in all_causes():
        yield f"\n{cause.name}"
        for clue in cause.clues:
            among, others = Count(), Count()
            for causes, held in found:
                (among if cause.name in causes else others).add(held[cause.name, clue.name])
            yield (
                f"  {clue.name:40} {_counts(among):>12} {_counts(others):>14}"
                f"   {ratio(among, others, True):+5.1f} ({clue.present:+.1f})"
                f"   {ratio(among, others, False):+5.1f} ({clue.absent:+.1f})"
                f"{'  ' + clue.group if clue.group else ''}"
            )


def _counts(c: Count) -> str:
    return f"{c.holds}/{c.not_held}/{c.unchecked}"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.zoo clues", description=__doc__)
    parser.add_argument("home", type=Path, help="folder that the zoo was made in")
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true", help=f"also write {KEPT.name}")
    options = parser.parse_args(words)
    folders = runs_in(options.home, options.part)
    if not folders:
        print(no_runs(options.home))
        return 2
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        lines = list(clue_table(list(pool.map(looks, folders))))
    print("\n".join(lines))
    if options.write:
        KEPT.write_text("\n".join([*_heading(folders, options.part), *lines, ""]))
    return 0


def _heading(folders: Sequence[Path], part: str | None) -> Iterator[str]:
    """The command that writes the table, and the runs it was counted on."""
    only = "" if part is None else f" --part {part}"
    counted = [(p, sum(f.parent.name == p for f in folders)) for p in PARTS]
    yield f"python -m tests.zoo clues DIR{only} --write"
    yield f"{len(folders)} runs: {', '.join(f'{n} {p}' for p, n in counted if n)}"
    yield ""
