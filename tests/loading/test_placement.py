"""When a checkpoint was written: by what is in it, by its name, by a line of the log."""

import numpy as np
import pytest

from forensics.loading.placement import placed
from forensics.run import Axis, FoundCheckpoint, Series, TextEvidence, TextKind


def _loss(steps, axis=Axis.EPOCH):
    return Series("loss", np.array(steps), np.linspace(2, 1, len(steps)), "log.csv", axis=axis)


def _found(pattern, numbers, *, epoch=False, guessed=True, modified=0.0):
    return [
        FoundCheckpoint(
            pattern.format(n),
            None if epoch or not guessed else n,
            10,
            modified - n,  # as of a copy: no order to go by
            epoch=n if epoch else None,
            number=None if epoch else n,
        )
        for n in numbers
    ]


def _steps(tmp_path, checkpoints, series, text=()):
    found, _ = placed(tmp_path, checkpoints, series, text)
    return [c.step for c in found]


def _by_step(epochs):
    steps = np.arange(0, len(epochs) * 10, 10)
    epoch = Series("epoch", steps, np.array(epochs, float), "log.csv")
    return [_loss(steps, Axis.STEP), epoch]


BATCHES = _by_step(np.repeat(np.arange(10), 4))
"""Ten epochs, from 0, of four points and 40 steps."""


def test_steps_of_a_log_by_step_stay(tmp_path):
    series = [_loss(range(0, 1000, 10), Axis.STEP)]
    assert _steps(tmp_path, _found("ckpt_{}.pt", [100, 500]), series) == [100, 500]


def test_epochs_that_are_counted_as_the_log_counts_them_stay(tmp_path):
    from_1, from_0 = [_loss(range(1, 13))], [_loss(range(12))]
    assert _steps(tmp_path, _found("net_{}.pt", range(1, 13)), from_1) == list(range(1, 13))
    assert _steps(tmp_path, _found("e{}.pt", range(12), epoch=True), from_0) == list(range(12))
    assert _steps(tmp_path, _found("e{}.pt", [4, 9], epoch=True), from_0) == [4, 9]


def test_one_number_proves_nothing(tmp_path):
    (only,) = _found("lstm_{}.pt", [3], guessed=False)
    assert _steps(tmp_path, [only], [_loss(range(12))]) == [None]


@pytest.mark.parametrize("numbers", [range(1, 21), [1, 2, 5, 9], [5, 10, 15, 20]])
def test_names_from_1_beside_a_log_from_0(tmp_path, numbers):
    found, notes = placed(tmp_path, _found("weights-{}.keras", numbers), [_loss(range(20))], ())
    assert [c.step for c in found] == [n - 1 for n in numbers]
    assert "numbered from 1" in str(notes[0])


def test_names_from_0_beside_a_log_from_1(tmp_path):
    names = _found("epoch_{}.pt", range(12), epoch=True)
    assert _steps(tmp_path, names, [_loss(range(1, 13))]) == list(range(1, 13))
    start = _found("epoch_{}.pt", range(13), epoch=True)  # 0 is what training began with
    assert _steps(tmp_path, start, [_loss(range(1, 13))]) == list(range(13))


def test_bare_numbers_beside_a_log_by_step_are_epochs_where_there_are_so_few(tmp_path):
    names = _found("lstm_{:02d}.keras", range(1, 11), guessed=False)
    assert _steps(tmp_path, names, BATCHES) == list(range(30, 400, 40))


def test_an_epoch_in_the_name_is_the_last_step_logged_in_it(tmp_path):
    names = _found("mlp_ep{}.pth", [4, 9], epoch=True)
    assert _steps(tmp_path, names, BATCHES) == [190, 390]


def _torch_files(folder, numbers, content):
    torch = pytest.importorskip("torch")
    found = _found("net_{}.pt", numbers)
    for one, n in zip(found, numbers, strict=True):
        torch.save({"model": {"w": torch.ones(2)}, **content(n)}, folder / one.path)
    return found


def test_what_the_file_says_counts_most(tmp_path):
    names = _torch_files(tmp_path, [1, 2, 3], lambda n: {"global_step": 40 * n})
    assert _steps(tmp_path, names, BATCHES) == [40, 80, 120]


def test_a_step_that_begins_again_with_each_epoch_counts_nothing(tmp_path):
    names = _torch_files(tmp_path, [1, 2, 3], lambda n: {"epoch": n, "step": 39})
    assert _steps(tmp_path, names, BATCHES) == [30, 70, 110]


def test_steps_that_grow_with_the_number_say_from_where_it_counts(tmp_path):
    names = _torch_files(tmp_path, [3, 7], lambda n: {"step": 25 * (n + 1)})
    assert _steps(tmp_path, names, [_loss(range(1, 21))]) == [4, 8]


def test_a_line_of_the_log_says_when_a_file_was_saved(tmp_path):
    best = FoundCheckpoint("out/best.pt", None, 10, 0.0)
    other = FoundCheckpoint("out/last.pt", None, 10, 0.0)
    text = [
        TextEvidence(TextKind.CHECKPOINT_SAVED, f"saving model to best.pt ({n})", "log", n, n)
        for n in (3, 8)
    ]
    found, _ = placed(tmp_path, [best, other], [_loss(range(12))], text)
    assert [(c.path, c.step) for c in found] == [("out/best.pt", 8), ("out/last.pt", None)]


def test_without_any_step_the_numbers_of_the_names_give_the_order(tmp_path):
    names = _found("epoch_{}.pt", [10, 2, 9], epoch=True)
    found, _ = placed(tmp_path, names, [_loss(range(100), Axis.STEP)], ())
    assert [c.path for c in found] == ["epoch_2.pt", "epoch_9.pt", "epoch_10.pt"]
    assert {c.step for c in found} == {None}
