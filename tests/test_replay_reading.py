import math
from dataclasses import replace

import pytest

from forensics.replay_facts import (
    LabelShifts,
    LineSearch,
    MomentCheck,
    NonFiniteSearch,
    Role,
    Variant,
)
from forensics.replay_reading import (
    GENTLEST_FIRST,
    Blame,
    Check,
    Repeat,
    read_replay,
    stands_out,
)
from tests import replay_facts_of as of


def test_nothing_is_concluded_from_nothing():
    told = read_replay(of.facts(as_run=None, comparisons=(), counterfactuals=(), loads=()))
    assert told.repeat is Repeat.NOT_REPLAYED
    assert (told.removed_by, told.kept_by, told.undecided) == ((), (), ())
    assert told.blame is None
    assert told.needs_precision is None
    assert not told.odd


def test_usual_results_are_not_odd():
    assert read_replay(of.facts()).odd == frozenset()


def test_a_change_removes_nothing_where_nothing_came_again():
    run = of.as_run(reproduces=False)
    told = read_replay(of.facts(as_run=run))
    assert told.repeat is Repeat.NOT_REPRODUCED
    assert not told.removed_by
    assert not told.kept_by
    assert len(told.undecided) == 3


def test_a_change_cut_short_by_the_budget_has_not_failed_to_help():
    cut = of.change(Variant.WARMUP, removes=False, trajectory=of.trajectory(complete=False))
    told = read_replay(of.facts(counterfactuals=(cut,)))
    assert told.kept_by == ()
    assert told.undecided == (cut,)


def test_a_stretch_that_ended_early_is_told_from_a_run_without_failure():
    early = of.as_run(reproduces=None, trajectory=of.trajectory(last=312))
    assert read_replay(of.facts(as_run=early)).repeat is Repeat.NOT_REACHED
    calm = of.facts(as_run=early, suspect_step=None)
    assert read_replay(calm).repeat is Repeat.NOTHING_FAILED


def test_every_variant_has_a_place_among_the_changes():
    assert sorted(GENTLEST_FIRST) == sorted(Variant)


def test_the_smallest_change_comes_first():
    changes = tuple(
        of.change(v, removes=True)
        for v in (Variant.RATE_TENTH, Variant.RATE_THIRD, Variant.CLIP_ONE)
    )
    told = read_replay(of.facts(counterfactuals=changes))
    order = [c.variant for c in told.removed_by]
    assert order == [Variant.CLIP_ONE, Variant.RATE_THIRD, Variant.RATE_TENTH]


@pytest.mark.parametrize(
    ("here", "earlier", "blame"),
    [
        ({}, {}, Blame.DATA),
        ({}, {"z": 0.3}, Blame.BOTH),
        ({}, None, Blame.DATA_OR_BOTH),
        ({}, {"z": 4.5}, Blame.DATA_OR_BOTH),
        ({"z": 0.3}, {"z": 0.3}, Blame.NEITHER),
        ({"z": 4.5}, {"z": 0.3}, Blame.OPEN),
        ({"usual": math.nan}, None, Blame.STATE),
        ({"usual": 2.0}, {"usual": 0.5}, Blame.STATE),
    ],
)
def test_data_state_both_or_neither(here, earlier, blame):
    made = [of.comparison(Role.BEFORE, **({"loss": 0.5} | here))]
    if earlier is not None:
        made.append(of.comparison(Role.EARLIER, **({"loss": 0.5} | earlier)))
    assert read_replay(of.facts(comparisons=tuple(made))).blame is blame


def test_a_suspect_that_is_not_finite_stands_out_from_sound_controls_alone():
    assert stands_out(of.comparison(loss=math.nan, z=math.nan))
    assert stands_out(of.comparison(loss=math.nan, usual=math.nan, z=math.nan)) is None


def test_a_loss_that_stands_out_is_seen_where_no_gradient_is_finite():
    made = of.comparison(z=8.0)
    controls = tuple(replace(c, grad_norm=math.inf) for c in made.controls)
    suspect = replace(made.suspect, grad_norm=math.inf)
    assert stands_out(replace(made, suspect=suspect, controls=controls, grad_z=math.nan)) is True


def test_a_loss_scale_that_is_still_too_large_is_no_bad_state():
    made = of.comparison(loss=0.43, z=0.3)
    controls = tuple(replace(c, grad_norm=math.inf) for c in made.controls)
    here = replace(made, suspect=replace(made.suspect, grad_norm=math.inf), controls=controls)
    assert read_replay(of.facts(comparisons=(here,), precision="fp16")).blame is Blame.NEITHER
    assert read_replay(of.facts(comparisons=(here,), precision="bf16")).blame is Blame.STATE


def test_precision_is_to_blame_only_where_float32_is_finite():
    half, full = of.operation("fp16"), NonFiniteSearch(of.SUSPECT, "fp32", None)
    assert read_replay(of.facts(searches=(half, full))).needs_precision is True
    assert read_replay(of.facts(searches=(half, of.operation("fp32")))).needs_precision is False
    assert read_replay(of.facts(searches=(half,))).needs_precision is None


def test_what_is_odd_is_named():
    odd = read_replay(of.everything()).odd
    assert odd == set(Check) - {Check.LOAD, Check.OVERFIT}


@pytest.mark.parametrize(
    ("ratio", "clip", "odd"), [(1.1, 1.0, False), (0.3, 0.3, False), (4, 1, True)]
)
def test_moments_are_compared_after_clipping(ratio, clip, odd):
    moments = MomentCheck(of.SUSPECT, None, None, ratio, clip)
    assert (Check.MOMENTS in read_replay(of.facts(moments=moments)).odd) is odd


def test_an_endless_line_search_is_fine():
    line = LineSearch(1, (0.0, 16.0), (1.0, 0.5), math.inf)
    assert Check.LINE not in read_replay(of.facts(line=line)).odd


def test_the_change_that_explains_the_log_must_be_much_closer():
    run = of.as_run(reproduces=False, matches_log=1.0)
    near = of.change(Variant.FRESH_MOMENTS, removes=False, matches_log=0.1)
    far = of.change(Variant.EPSILON, removes=False, matches_log=0.8)
    assert read_replay(of.facts(as_run=run, counterfactuals=(near, far))).closest == (near,)
    assert read_replay(of.facts(as_run=run, counterfactuals=(far,))).closest == ()
    assert read_replay(of.facts(counterfactuals=(near,))).closest == ()


def test_nothing_explains_a_log_that_the_run_itself_meets():
    run = of.as_run(reproduces=False, matches_log=0.0)
    same = of.change(Variant.SKIP_BATCH, removes=False, matches_log=0.0)
    assert read_replay(of.facts(as_run=run, counterfactuals=(same,))).closest == ()


def test_changes_that_come_to_the_same_are_both_named():
    run = of.as_run(reproduces=False, matches_log=1.0)
    both = tuple(
        of.change(v, removes=False, matches_log=0.1)
        for v in (Variant.MICRO_BATCHES_SUMMED, Variant.RANKS_SUMMED)
    )
    assert read_replay(of.facts(as_run=run, counterfactuals=both)).closest == both


def test_labels_that_fit_hardly_better_elsewhere_are_in_place():
    near = LabelShifts({0: 1.0, 1: 0.95}, 1.1)
    assert Check.SHIFTS not in read_replay(of.facts(shifts=near)).odd
    assert Check.SHIFTS in read_replay(of.facts(shifts=LabelShifts({0: 1.0, 1: 0.3}, 1.1))).odd
