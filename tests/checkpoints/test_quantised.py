"""8-bit optimizer state, laid out as bitsandbytes does (``optim/optimizer.py``, init_state)."""

import numpy as np
import pytest

from forensics.checkpoints import DType, Role, open_checkpoint
from tests.checkpoints.saves import array, of_role

torch = pytest.importorskip("torch")
NESTED = "__bnb_optimizer_quant_state__"


def dequantised(codes, scales, table, block):
    """The slow twin: one element at a time."""
    flat = codes.reshape(-1).tolist()
    values = [float(table[code]) * float(scales[i // block]) for i, code in enumerate(flat)]
    return np.array(values, np.float32).reshape(codes.shape)


def state_of(shape, block, seed=0):
    """Slots of one parameter."""
    torch.manual_seed(seed)
    numel = int(np.prod(shape))
    blocks = -(-numel // block)
    return {
        "step": 12,
        "state1": torch.randint(0, 256, shape, dtype=torch.uint8),
        "state2": torch.randint(0, 256, shape, dtype=torch.uint8),
        "qmap1": torch.linspace(-1, 1, 256),
        "qmap2": torch.linspace(0, 1, 256),
        "absmax1": torch.rand(blocks) + 0.1,
        "absmax2": torch.rand(blocks) + 0.1,
    }


def opened(tmp_path, slots, shape):
    small = {"step": 12, "state1": torch.ones(3), "state2": torch.full((3,), 2.0)}
    optimizer = {
        "state": {0: slots, 1: small},
        "param_groups": [{"lr": 1e-4, "betas": (0.9, 0.999), "params": [0, 1]}],
    }
    model = {"big": torch.ones(shape), "small": torch.ones(3)}
    torch.save({"model": model, "optimizer": optimizer}, tmp_path / "x.pt")
    return open_checkpoint(tmp_path / "x.pt")


def test_codes_without_their_table_are_not_read_as_values(tmp_path):
    slots = state_of((64, 64), 256)
    del slots["qmap1"]
    found = of_role(opened(tmp_path, slots, (64, 64)), Role.EXP_AVG)["big"]
    assert found.dtype is DType.OTHER
    assert "without their table" in found.missing


def test_scales_that_fit_no_block_size_are_not_guessed(tmp_path):
    slots = state_of((64, 64), 256)
    slots["absmax2"] = torch.ones(5)
    found = of_role(opened(tmp_path, slots, (64, 64)), Role.EXP_AVG_SQ)["big"]
    assert (found.dtype, found.missing) == (DType.OTHER, "8-bit codes of unknown blocks")


@pytest.mark.parametrize("block", [256, 2048])
@pytest.mark.parametrize("shape", [(64, 64), (4097,), (50, 100)])
@pytest.mark.parametrize("nested", [False, True])
def test_the_values_are_table_times_scale(tmp_path, shape, block, nested):
    slots = state_of(shape, block)
    held = (
        {"step": 12, NESTED: {k: v for k, v in slots.items() if k != "step"}} if nested else slots
    )
    result = opened(tmp_path, held, shape)
    for role, number in ((Role.EXP_AVG, "1"), (Role.EXP_AVG_SQ, "2")):
        found = of_role(result, role)["big"]
        expected = dequantised(*(slots[f"{n}{number}"] for n in ("state", "absmax", "qmap")), block)
        assert (found.dtype, found.shape) == (DType.F32, shape)
        assert np.allclose(array(found), expected, rtol=1e-6)
    assert result.state.optimizer_steps == {"big": 12.0, "small": 12.0}


def test_small_parameters_stay_in_float32(tmp_path):
    result = opened(tmp_path, state_of((64, 64), 256), (64, 64))
    assert list(array(of_role(result, Role.EXP_AVG)["small"])) == [1.0] * 3
    assert list(array(of_role(result, Role.EXP_AVG_SQ)["small"])) == [2.0] * 3


def test_a_scale_that_is_not_finite_shows_in_the_values(tmp_path):
    slots = state_of((64, 64), 256)
    slots["absmax1"][3] = float("nan")
    values = array(of_role(opened(tmp_path, slots, (64, 64)), Role.EXP_AVG)["big"]).reshape(-1)
    assert np.flatnonzero(np.isnan(values)).tolist() == list(range(768, 1024))
