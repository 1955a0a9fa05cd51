"""Two logs of one run that count its epochs from 0 and from 1, or by their rows."""

import numpy as np
import pytest

from tests.loading.fakes import tags

N = 12
LOSS = [2.0 * 0.8**n + 0.01 * (n % 3) for n in range(N)]
VAL = [2.1 * 0.85**n + 0.02 * (n % 4) for n in range(N)]
FROM_0, FROM_1 = list(range(N)), list(range(1, N + 1))


def _steps(run, tag="loss"):
    return [int(n) for s in run.series if s.tag == tag for n in s.step]


def _two_logs(folder, ours, theirs, *, axis="epoch", values=(LOSS, VAL)):
    loss, val = ([round(v, 4) for v in some] for some in (LOSS, VAL))
    folder.log("out.alog", (theirs, loss), more=[("val_loss", (theirs, val))], axis="epoch")
    folder.log("table.blog", (ours, values[0]), more=[("val_loss", (ours, values[1]))], axis=axis)
    return folder.run()


def test_the_same_epochs_are_left_as_they_are(folder):
    run = _two_logs(folder, FROM_1, FROM_1)
    assert tags(run) == ["loss", "val_loss"]
    assert _steps(run) == FROM_1


def test_epochs_of_other_values_are_not_moved(folder):
    other = ([v + 0.5 for v in LOSS], [v + 0.7 for v in VAL])
    run = _two_logs(folder, FROM_0, FROM_1, values=other)
    assert {int(s.step[0]) for s in run.series} == {0, 1}


def test_two_logs_from_0_stay_there(folder):
    assert _steps(_two_logs(folder, FROM_0, FROM_0)) == FROM_0


def test_iterations_are_no_epochs(folder):
    many = list(range(0, 10 * N, 10))
    folder.log("out.alog", (FROM_1, LOSS), axis="epoch")
    folder.log("table.blog", (many, LOSS), axis="step")
    assert {s.axis.value for s in folder.run().series} == {"epoch", "step"}


@pytest.mark.parametrize("axis", ["epoch", "row", "step"])
def test_one_epoch_apart_is_one_run_counted_from_1(folder, axis):
    run = _two_logs(folder, FROM_0, FROM_1, axis=axis)
    assert tags(run) == ["loss", "val_loss"]
    assert _steps(run) == FROM_1
    assert {s.axis.value for s in run.series} == {"epoch"}
    assert np.concatenate([s.value for s in run.series if s.tag == "loss"]).tolist() == LOSS


def test_nan_from_the_first_epoch_on_is_aligned_by_the_number_of_epochs(folder):
    nan = [float("nan")] * N
    folder.log("out.alog", (FROM_1, nan), axis="epoch")
    folder.log("table.blog", (FROM_0, nan), axis="epoch")
    assert _steps(folder.run()) == FROM_1


def test_a_loss_by_epoch_beside_one_by_step_is_its_mean(folder):
    steps = list(range(0, 300, 5))
    folder.log("batches.alog", (steps, [3.0 - 0.01 * s for s in steps]))
    folder.log("epochs.blog", (FROM_1, LOSS), more=[("val_loss", (FROM_1, VAL))], axis="epoch")
    assert tags(folder.run()) == ["loss", "loss_epoch", "val_loss"]
