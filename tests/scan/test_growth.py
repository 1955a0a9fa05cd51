"""What grew over a series of checkpoints: first what every training makes grow."""

import math

import pytest

from forensics.causes import _looks_growth as growth
from tests.scan.trained import STEPS, case_of, torch, train

LOOKS = [growth.query_key_grew, growth.head_grew, growth.gains_grew, growth.few_rows_grew]
QUERY = "layers.0.q_proj.weight"


def adding(**tensors):
    """A change that saves further tensors; each is a function of the step."""

    def add(step, save):
        for name, make in tensors.items():
            save["model"][name] = make(step)

    return add


def flat(level):
    return lambda step: torch.full((64, 64), level(step))


def rows(first, count=200):
    """An embedding of ``count`` rows of length 1, of which some are longer."""

    def make(step):
        table = torch.ones(count, 16)
        for row, length in enumerate(first(step)):
            table[row] = length
        return table

    return make


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.__name__)
def test_all_weights_that_grow_alike(tmp_path, look):
    names = (QUERY, "lm_head.weight", "layers.0.norm1.weight", "a.weight", "b.weight")
    grow = adding(**{name: flat(lambda step: step / 10) for name in names})

    def all_alike(step, save):
        save["model"].clear()
        grow(step, save)

    assert look(case_of(train(tmp_path, all_alike))).holds is not True


@pytest.mark.parametrize("name", [QUERY, "lm_head.weight"])
def test_steps_without_a_direction(tmp_path, name):
    """From a start near zero noise alone leads to the root of the number of steps."""
    case = case_of(train(tmp_path, adding(**{name: flat(lambda step: math.sqrt(step + 10))})))
    assert growth.query_key_grew(case, factor=1.0).holds is not True
    assert growth.head_grew(case, factor=1.0).holds is not True


def test_biases_begin_at_zero(tmp_path):
    bias = adding(**{"h.0.attn.c_attn.bias": lambda step: torch.full((64,), float(step**2))})
    assert growth.query_key_grew(case_of(train(tmp_path, bias))).holds is not True


def test_no_series_from_before_the_onset(tmp_path):
    root = train(tmp_path, adding(**{QUERY: flat(lambda step: 2.0**step)}))
    for look in LOOKS:
        assert look(case_of(root, onset=STEPS[1])).holds is None


def test_frequent_tokens_are_longer(tmp_path):
    zipf = rows(lambda step: [1 + step / (1 + rank) for rank in range(100)])
    assert growth.few_rows_grew(case_of(train(tmp_path, adding(**{"wte.weight": zipf})))).holds is (
        False
    )


def test_a_row_that_was_long_from_the_start(tmp_path):
    padding = rows(lambda step: [6.0])
    case = case_of(train(tmp_path, adding(**{"embed_tokens.weight": padding})))
    assert growth.few_rows_grew(case).holds is False


def test_rows_that_left_the_others_behind(tmp_path):
    table = rows(lambda step: [1.0, step / 10.0, step / 12.0])
    seen = growth.few_rows_grew(case_of(train(tmp_path, adding(**{"wte.weight": table}))))
    assert seen.holds
    assert seen.text == (
        "In step_000120.pt row 1 of wte.weight is 12 times as long as the longest but for a "
        "handful; in step_000040.pt it was 4 times."
    )


def test_query_weights_that_grow_more_than_the_rest(tmp_path):
    seen = growth.query_key_grew(
        case_of(train(tmp_path, adding(**{QUERY: flat(lambda step: float(step))})))
    )
    assert seen.holds
    assert QUERY in seen.text


def test_gains_of_one_norm(tmp_path):
    def gain(last):
        return lambda step: torch.ones(16) * (last if step == STEPS[-1] else 1.0)

    names = {f"layers.{n}.input_layernorm.weight": gain(8.0 if n == 2 else 1.2) for n in range(4)}
    assert growth.gains_grew(case_of(train(tmp_path, adding(**names)))).holds
    last = {f"layers.{n}.ln_1.weight": gain(1.2) for n in range(4)} | {"ln_f.weight": gain(8.0)}
    apart = tmp_path / "last"
    apart.mkdir()
    case = case_of(train(apart, adding(**last)))
    assert growth.gains_grew(case).holds is False
    assert growth.head_grew(case).holds
