"""Checkpoints of two steps in a row: the way between them is what Adam's state makes of it."""

import pytest

from forensics.causes._looks_last_update import moved_without_optimizer
from forensics.causes._looks_moments import updates_outrun_memory
from tests.scan.trained import case_of, model, surveyed, torch

SGD, ADAM, ADAMW = (
    lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    lambda p: torch.optim.Adam(p, lr=1e-2, weight_decay=0.1),
    lambda p: torch.optim.AdamW(p, lr=1e-2, betas=(0.9, 0.95), weight_decay=0.1),
)


def train(root, make=ADAMW, *, last=60, change=lambda step, save: None, scale=lambda step: 1.0):
    """Save after the last step and the one before it."""
    net = model()
    optimizer = make(net.parameters())
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    for step in range(1, last + 1):
        x = torch.randn(32, 16)
        loss = ((net(x) - x[:, :4]) ** 2).mean() * scale(step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step > last - 2:
            held = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
            change(step, held)
            torch.save(held, root / f"step_{step:06}.pt")
    return root


@pytest.mark.parametrize("make", [ADAM, ADAMW])
def test_every_tensor_moved_as_its_moments_say(tmp_path, make):
    (pair,) = surveyed(train(tmp_path, make)).pairs
    assert len(pair.updates) == 6
    for fit in pair.updates:
        assert fit.residual < 1e-2
        assert fit.rate == pytest.approx(1e-2 / 60, rel=0.02)
    assert moved_without_optimizer(case_of(tmp_path)).holds is False


def test_another_optimizer_says_nothing(tmp_path):
    train(tmp_path, SGD)
    assert surveyed(tmp_path).pairs[0].updates == ()
    assert moved_without_optimizer(case_of(tmp_path)).holds is None


def test_moments_of_other_steps_say_nothing(tmp_path):
    """Nothing fits: it is no Adam, or the state is not that of the weights."""

    def shuffle(step, held):
        for slots in held["optimizer"]["state"].values():
            slots["exp_avg"] = torch.randn_like(slots["exp_avg"])

    train(tmp_path, change=shuffle)
    assert moved_without_optimizer(case_of(tmp_path)).holds is None


def test_checkpoints_further_apart_are_not_compared(tmp_path):
    train(tmp_path)
    (tmp_path / "step_000059.pt").rename(tmp_path / "step_000040.pt")
    assert surveyed(tmp_path).pairs[0].updates == ()


def test_a_tensor_that_something_else_changed(tmp_path):
    def edit(step, held):
        if step == 60:
            weights = dict(held["model"])
            weights["2.weight"] = weights["2.weight"] + 0.01 * torch.randn(64, 64)
            held["model"] = weights

    seen = moved_without_optimizer(case_of(train(tmp_path, change=edit)))
    assert seen.holds
    assert "2.weight" in seen.text
    assert "5 other tensors" in seen.text


def test_gradients_that_keep_their_size(tmp_path):
    seen = updates_outrun_memory(case_of(train(tmp_path, lambda p: torch.optim.Adam(p, lr=1e-3))))
    assert seen.holds is False


def test_gradients_that_outgrow_the_second_moment(tmp_path):
    def grow(step):
        return 1.0 if step < 150 else 2.0 ** (step - 150)

    train(tmp_path, lambda p: torch.optim.Adam(p, lr=1e-5), last=158, scale=grow)
    assert updates_outrun_memory(case_of(tmp_path)).holds
    assert updates_outrun_memory(case_of(tmp_path, onset=150)).holds is None  # that is after it
