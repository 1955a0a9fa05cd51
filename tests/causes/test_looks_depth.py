from forensics.causes._looks_depth import (
    all_silent,
    last_layer_runs_away,
    moments_vanish,
    only_decay_moves,
)
from forensics.findings import Outcome
from tests.causes.facts_of import change, moment, pair, save, scanned, silence, weight

NAMES = ("0.weight", "2.weight", "4.weight", "6.weight")


def saved_with(gradients: tuple[float, ...], **more: float):
    moments = tuple(moment(n, g, **more) for n, g in zip(NAMES, gradients, strict=True))
    return scanned(save(100, *(weight(n) for n in NAMES), moments=moments))


def test_gradients_of_one_size_do_not_vanish() -> None:
    assert moments_vanish(saved_with((0.01, 0.01, 0.02, 0.02))).holds is False


def test_without_moments_nothing_is_said() -> None:
    assert moments_vanish(scanned(save(100, weight("0.weight")))).holds is None


def test_gradients_that_fall_by_powers_of_ten_vanish() -> None:
    assert moments_vanish(saved_with((1e-9, 1e-7, 1e-5, 1e-2))).holds is True


def test_layers_that_learn_do_not_shrink_alike() -> None:
    case = scanned(pair(*(change(n, 0.02 * (i + 1)) for i, n in enumerate(NAMES))))
    assert only_decay_moves(case).holds is False


def test_first_layers_that_shrink_alike_have_no_gradient() -> None:
    ways = (0.019, 0.019, 0.03, 0.2)
    case = scanned(pair(*(change(n, r) for n, r in zip(NAMES, ways, strict=True))))
    assert only_decay_moves(case).holds is True


def test_a_frozen_run_is_not_one_of_dead_units() -> None:
    still = (silence(n, 1.0) for n in NAMES)
    assert all_silent(scanned(pair(moments=tuple(still)))).holds is False


def test_silence_of_all_but_the_output_is_death() -> None:
    moments = (*(silence(n, 1.0) for n in NAMES), silence("6.bias", 0.0, (10,)))
    assert all_silent(scanned(pair(moments=moments))).holds is True


def test_an_ordinary_last_layer_does_not_run_away() -> None:
    assert last_layer_runs_away(saved_with((0.01,) * 4)).holds is False


def test_a_last_layer_pulled_one_way_runs_away() -> None:
    moments = (*(moment(f"{n}{i}") for n in NAMES for i in range(3)), moment("x", update_rms=1.4))
    assert last_layer_runs_away(scanned(save(100, weight("x"), moments=moments))).holds is True


def test_what_still_runs_away_after_the_onset_counts_where_nothing_was_saved_before() -> None:
    moments = (*(moment(f"{n}{i}") for n in NAMES for i in range(3)), moment("x", update_rms=1.4))
    late = save(300, weight("x"), moments=moments)
    broke = {"outcome": Outcome.DIVERGED, "onset": 100}
    assert last_layer_runs_away(scanned(late, **broke)).holds is True
    early = save(50, weight("x"), moments=moments[:-1])
    assert last_layer_runs_away(scanned(early, late, **broke)).holds is False


def test_queries_and_keys_are_small_at_any_depth() -> None:
    names = (*(f"block.{i}.{part}" for i in range(3) for part in ("query", "key", "mlp")), "head")
    small = {"query": 1e-6, "key": 2e-6, "mlp": 1e-4, "head": 0.006}
    moments = tuple(moment(n, small[n.rpartition(".")[2]]) for n in names)
    case = scanned(save(100, *(weight(n) for n in names), moments=moments))
    assert moments_vanish(case).holds is False


def test_a_table_whose_rows_are_looked_up_is_no_first_layer() -> None:
    names = ("embeddings.position_embeddings", "0.weight", "2.weight", "4.weight")
    moments = tuple(moment(n, g) for n, g in zip(names, (1e-9, 0.01, 0.01, 0.02), strict=True))
    case = scanned(save(100, *(weight(n) for n in names), moments=moments))
    assert moments_vanish(case).holds is False
