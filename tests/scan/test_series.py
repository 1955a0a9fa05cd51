"""How many checkpoints are scanned to find where the damage began, and what is found."""

import pytest

from forensics.errors import UnreadableFile
from forensics.findings import TensorStats
from forensics.run import FoundCheckpoint, Note
from forensics.scan import CheckpointScan, ScanMode, scan_series
from forensics.scan.series import said_once


class Run:
    """A run of checkpoints 100, 200 ... of which those from ``bad`` on hold a NaN."""

    def __init__(self, count, bad=None, unreadable=()):
        self.found = [FoundCheckpoint(f"c{i}", 100 * i, 10, float(i)) for i in range(1, count + 1)]
        self.bad, self.unreadable = bad, unreadable
        self.scans = []

    def scan_one(self, found):
        self.scans.append(found.path)
        place = int(found.path.removeprefix("c"))
        if place in self.unreadable:
            raise UnreadableFile(f"{found.path}: cut off")
        nan = int(self.bad is not None and place >= self.bad)
        return CheckpointScan((stats(found.path, nan),))

    def bisect(self, **more):
        return scan_series(self.found, self.scan_one, ScanMode.BISECT, **more)


def stats(path, nan):
    return TensorStats(path, None, "w", "param", "F32", (2,), 2, nan, 0, 0, 0, 1.0, 1.0, None)


def poisoned(scan):
    return [t.checkpoint for t in scan.tensors if t.is_poisoned]


def finite(scan):
    return [t.checkpoint for t in scan.tensors if not t.is_poisoned]


def test_none_scans_none():
    run = Run(5, bad=2)
    assert scan_series(run.found, run.scan_one, ScanMode.NONE).scanned == ()
    assert run.scans == []


def test_no_checkpoints():
    assert Run(0).bisect().tensors == ()


def test_a_finite_last_one_spares_all_others():
    run = Run(64)
    assert run.bisect().scanned == ("c64",)


def test_with_an_onset_the_last_one_before_it_is_scanned_too():
    scan = Run(64).bisect(onset_step=3150)
    assert scan.scanned == ("c64", "c31")
    assert finite(scan) == ["c31", "c64"]


def test_an_onset_before_the_first_checkpoint_asks_for_no_more():
    assert Run(8).bisect(onset_step=50).scanned == ("c8",)


@pytest.mark.parametrize("bad", range(1, 65))
@pytest.mark.parametrize("onset", [None, 50, 1650, 3300, 9000])
def test_the_first_of_64_is_found_in_8_scans(bad, onset):
    run = Run(64, bad)
    scan = run.bisect(onset_step=onset)
    assert len(run.scans) <= 8
    assert poisoned(scan)[0] == f"c{bad}"
    if bad > 1:
        assert finite(scan)[-1] == f"c{bad - 1}"
    assert len(set(run.scans)) == len(run.scans)


def test_checkpoints_that_cannot_be_read_are_passed_over():
    run = Run(16, bad=9, unreadable=(16, 8, 4))
    scan = run.bisect()
    assert poisoned(scan)[0] == "c9"
    assert finite(scan)[-1] == "c7"
    assert [n.source for n in scan.notes] == ["c16", "c8"]
    assert "c16" not in scan.scanned


def test_none_can_be_read():
    scan = Run(3, unreadable=(1, 2, 3)).bisect(onset_step=250)
    assert (scan.tensors, len(scan.notes)) == ((), 3)


def test_unfinished_saves_are_not_bisected():
    run = Run(4)
    run.found.append(FoundCheckpoint("c5", 500, 10, 5.0, complete=False))
    assert run.bisect().scanned == ("c4",)
    assert scan_series(run.found, run.scan_one, ScanMode.ALL).scanned[-1] == "c5"


def test_all_scans_each_in_step_order():
    run = Run(12, bad=5)
    scan = scan_series(run.found[::-1], run.scan_one, ScanMode.ALL)
    assert scan.scanned == tuple(f"c{i}" for i in range(1, 13))
    assert len(poisoned(scan)) == 8


def test_copies_of_a_step_are_scanned_together():
    run = Run(2)
    copies = [FoundCheckpoint(p, 200, 10, 1.0) for p in ("c2", "c3")]
    scan = scan_series([run.found[0], *copies], run.scan_one, ScanMode.BISECT)
    assert set(scan.scanned) == {"c2", "c3"}


def test_one_without_a_place_stops_no_halving():
    """A ``best.pt`` may be finite though it lies last: nothing follows from it."""
    run = Run(16, bad=4)
    best = FoundCheckpoint("c1", None, 10, 99.0)
    scan = scan_series([best, *run.found[1:]], run.scan_one, ScanMode.BISECT)
    assert poisoned(scan)[0] == "c4"
    assert "c1" in scan.scanned


def test_without_steps_the_epoch_orders_them():
    run = Run(32, bad=20)
    found = [FoundCheckpoint(f.path, None, 10, 0.0, epoch=f.step) for f in run.found]
    scan = scan_series(found, run.scan_one, ScanMode.BISECT)
    assert poisoned(scan)[0] == "c20"
    assert len(scan.scanned) <= 7


def test_few_without_any_order_are_all_scanned():
    run = Run(8, bad=3)
    found = [FoundCheckpoint(f.path, None, 10, 0.0) for f in run.found]
    assert len(scan_series(found, run.scan_one, ScanMode.BISECT).scanned) == 8


def test_many_without_steps_are_ordered_by_time():
    run = Run(20, bad=11)
    found = [FoundCheckpoint(f.path, None, 10, f.modified) for f in run.found]
    scan = scan_series(found, run.scan_one, ScanMode.BISECT)
    assert poisoned(scan)[0] == "c11"
    assert len(scan.scanned) < 8


def test_what_holds_of_many_checkpoints_is_said_once():
    run = Run(4)

    def scan_one(found):
        notes = (Note("names are ambiguous", found.path), Note(f"only {found.path}", found.path))
        return CheckpointScan((stats(found.path, 0),), notes)

    scan = scan_series(run.found, scan_one, ScanMode.ALL)
    assert [str(note) for note in scan.notes] == [
        "c1: names are ambiguous (and 3 more alike)",
        *(f"c{i}: only c{i}" for i in range(1, 5)),
    ]


def test_a_note_that_is_there_once_or_twice_for_one_file():
    assert said_once([]) == []
    assert said_once([Note("a", "x"), Note("a", "x")]) == [Note("a", "x")]
    assert said_once([Note("a", "x"), Note("a", "y")]) == [Note("a (and 1 more alike)", "x")]


def test_each_unreadable_checkpoint_is_named():
    def scan_one(found):
        raise UnreadableFile("cut off")

    scan = scan_series(Run(3).found, scan_one, ScanMode.ALL)
    assert [note.source for note in scan.notes] == ["c1", "c2", "c3"]
