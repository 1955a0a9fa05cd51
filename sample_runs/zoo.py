"""Makes the zoo: ``python sample_runs/zoo.py make OUT`` and ``python sample_runs/zoo.py list``.

Each run is a real, small training with one fault or none; the same training without the fault is
its control, and must train well. A run whose fault did not show is not labelled: it stops the
generator. ``OUT/<part>/<run>/truth.json`` is the label: the keys of the sample runs, and what was
varied. The part ``tuning`` is for choosing weights; the part ``measured`` has other seeds, families
and log formats and is only measured.
"""

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from zoo_runs import faults, healthy
from zoo_runs.fault import Cell, Fault, cells

PARTS = ("tuning", "measured")


def all_faults() -> Iterator[Fault]:
    """Every declared fault and trap."""
    for room in (faults, healthy):
        for found in pkgutil.iter_modules(room.__path__):
            yield importlib.import_module(f"{room.__name__}.{found.name}").FAULT


def chosen(only: list[str] | None, part: str | None, later: int = 0) -> list[Cell]:
    """The runs to make, the first of every fault first; ``only`` names causes, faults or runs."""
    places = [
        (place, c)
        for f in all_faults()
        for p in PARTS
        if part in (None, p)
        for place, c in enumerate(cells(f, p, later))
    ]
    every = [c for _, c in sorted(places, key=lambda pair: pair[0])]
    return [c for c in every if not only or {c.fault.cause, c.fault.name, c.name} & set(only)]


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make", help="train the runs")
    making.add_argument("out", type=Path, help="where the folders are written")
    making.add_argument("--jobs", type=int, default=2, help="processes")
    making.add_argument("--missing", action="store_true", help="only runs that are not there yet")
    making.add_argument("--keep-going", action="store_true", help="go on after a fault that hid")
    again = commands.add_parser("label", help="write anew what else is right, training nothing")
    again.add_argument("out", type=Path, help="where the folders are")
    for command in (making, again, commands.add_parser("list", help="show the runs")):
        command.add_argument("--only", nargs="+", help="causes, faults or runs")
        command.add_argument("--part", choices=PARTS)
        command.add_argument(
            "--later", type=int, default=0, help="added to every seed, for runs never seen before"
        )
    options = parser.parse_args(argv)
    wanted = chosen(options.only, options.part, options.later)
    if options.command == "list":
        for cell in wanted:
            print(f"{cell.part:9} {cell.fault.cause:30} {cell.name}")
        print(f"{len(wanted)} runs")
        return 0
    if options.command == "label":
        return label_all(wanted, options.out)
    if options.missing:
        wanted = [c for c in wanted if not (options.out / c.part / c.name / "truth.json").exists()]
    stop = not options.keep_going
    return make_all(wanted, options.out, options.jobs, later=options.later, stop=stop)


def label_all(wanted: list[Cell], out: Path) -> int:
    """Label the made runs anew by what their faults now declare."""
    from zoo_runs.making import label_anew

    made = [c for c in wanted if (out / c.part / c.name / "truth.json").exists()]
    for cell in made:
        label_anew(cell, out)
    print(f"{len(made)} runs labelled")
    return 0


def make_all(wanted: list[Cell], out: Path, jobs: int, *, later: int, stop: bool) -> int:
    """Make runs in processes; return 1 where a fault did not show."""
    hidden = 0
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(make_one, c.part, c.name, out, later): c for c in wanted}
        for done in as_completed(waiting):
            error = done.exception()
            cell = waiting[done]
            problem, line = (True, f"{cell.name}: {error!r}") if error else done.result()
            hidden += problem
            print(f"{'HIDDEN' if problem else 'made':6} {cell.part:9} {line}", flush=True)
            if problem and stop:
                pool.shutdown(cancel_futures=True)
                return 1
    return min(1, hidden)


def make_one(part: str, name: str, out: Path, later: int = 0) -> tuple[bool, str]:
    """Make one run, in a process of its own: whether its fault hid, and a line."""
    import torch

    from zoo_runs.making import FaultDidNotShow, make

    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    cell = next(c for c in chosen(None, part, later) if c.name == name)
    try:
        return False, f"{name}: {make(cell, out)}"
    except FaultDidNotShow as error:
        return True, str(error)


if __name__ == "__main__":
    sys.exit(main())
