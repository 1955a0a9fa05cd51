"""What grew over the checkpoints, and what is large in the last of them."""

import pytest

from forensics.causes._looks_growth import query_key_large
from tests.causes.facts_of import save, scanned, weight

OTHERS = (
    weight("blocks.0.up.weight"),
    weight("blocks.0.down.weight"),
    weight("blocks.1.up.weight"),
)


def test_weights_of_one_size_are_in_health() -> None:
    assert (
        query_key_large(scanned(save(100, weight("blocks.0.qkv.weight"), *OTHERS))).holds is False
    )


def test_a_model_that_is_large_throughout_is_another_matter() -> None:
    large = [weight(f"blocks.{i}.{n}.weight", 1.0) for i in (0, 1) for n in ("qkv", "up", "down")]
    assert query_key_large(scanned(save(100, *large))).holds is False


def test_normalised_queries_and_keys_may_be_of_any_size() -> None:
    normed = weight("blocks.0.attn.q_norm.weight", 1.0, (64,))
    grown = weight("blocks.0.attn.q_proj.weight", 1.5)
    assert query_key_large(scanned(save(100, grown, normed, *OTHERS))).holds is None


def test_without_attention_or_checkpoints_nothing_is_said() -> None:
    assert query_key_large(scanned(save(100, *OTHERS))).holds is None
    assert query_key_large(scanned()).holds is None


@pytest.mark.parametrize("name", ["blocks.0.qkv.weight", "h.0.attn.c_attn.weight", "l.0.wq.weight"])
def test_queries_and_keys_far_larger_than_the_rest(name: str) -> None:
    assert query_key_large(scanned(save(100, weight(name, 1.5), *OTHERS))).holds is True
