import pytest

from forensics.checkpoints import Role, open_checkpoint
from tests.checkpoints.saves import assert_same_moments, assert_same_state, weights

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def opened(trained_by_lightning):
    return open_checkpoint(trained_by_lightning[0])


def test_callbacks_and_loops_are_no_weights(opened):
    assert {t.role for t in opened.tensors} == {
        Role.PARAM, Role.BUFFER, Role.EXP_AVG, Role.EXP_AVG_SQ}  # fmt: skip


def test_the_weights(opened, trained_by_lightning):
    assert opened.format == "lightning"
    assert_same_state(opened, trained_by_lightning[1])
    assert weights(opened)["net.1.running_mean"].role is Role.BUFFER


def test_the_moments(opened, trained_by_lightning):
    state = torch.load(trained_by_lightning[0], weights_only=False)["optimizer_states"][0]["state"]
    names = ["net.0.weight", "net.0.bias", "net.1.weight", "net.1.bias"]
    assert_same_moments(opened, names, state)


def test_the_state_of_training(opened):
    state = opened.state
    assert (state.global_step, state.epoch) == (4, 2.0)
    assert state.param_groups[0]["lr"] == state.scheduler["_last_lr"][0] == 0.025
    assert state.settings == {"width": 4, "rate": 0.1}


def test_the_scaler_of_mixed_precision(trained_by_lightning, tmp_path):
    save = torch.load(trained_by_lightning[0], weights_only=False)
    save["MixedPrecision"] = {"scale": 2.0**14, "growth_factor": 2.0, "_growth_tracker": 5}
    torch.save(save, tmp_path / "amp.ckpt")
    assert open_checkpoint(tmp_path / "amp.ckpt").state.scaler["scale"] == 2.0**14
