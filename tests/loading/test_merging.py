"""What is kept where several files logged one quantity."""

import numpy as np

from tests.loading.fakes import falling, pieces, tags

STEPS, VALUES = falling(0, 500, slope=0.00123457)


def rounded(decimals, last=51):
    return STEPS[:last], [round(v, decimals) for v in VALUES[:last]]


def values(run, tag="loss"):
    return np.concatenate([s.value for s in run.series if s.tag == tag])


def test_constants_and_other_quantities_are_never_mixed_up(folder):
    folder.log("a.alog", (STEPS, VALUES), more=[("lr", (STEPS, [0.1] * 51))])
    folder.log("b.blog", (STEPS, VALUES), more=[("weight_decay", (STEPS, [0.1] * 51))])
    assert tags(folder.run()) == ["loss", "lr", "weight_decay"]


def test_views_that_disagree_keep_tags_of_their_own(folder):
    folder.log("a.alog", (STEPS, VALUES))
    folder.log("a.blog", (STEPS[:40], [v + 0.3 for v in VALUES[:40]]))
    run = folder.run()
    assert tags(run) == ["format blog: loss", "loss"]
    assert values(run).tolist() == VALUES


def test_of_two_copies_the_precise_one_stays(folder):
    folder.log("stdout.alog", rounded(4), tag="loss")
    folder.log("tb.blog", (STEPS, np.float32(VALUES).tolist()), tag="train/loss")
    run = folder.run()
    assert len(run.series) == 1
    assert run.series[0].source == "tb.blog"


def test_points_that_only_the_coarse_copy_has_are_put_in_their_place(folder):
    folder.log("stdout.alog", rounded(3))
    folder.log("metrics.blog", (STEPS[5:40:2], VALUES[5:40:2]))
    (only,) = folder.run().series
    assert only.step.tolist() == STEPS
    assert only.source == "metrics.blog"
    assert only.value[5] == VALUES[5]
    assert only.value[50] == round(VALUES[50], 3)


def test_a_copy_with_significant_digits(folder):
    small = [v / 1e5 for v in VALUES]
    folder.log("printed.alog", (STEPS, [float(f"{v:.3g}") for v in small]))
    folder.log("metrics.blog", (STEPS, small))
    assert [s.source for s in folder.run().series] == ["metrics.blog"]


def test_non_finite_values_agree_with_themselves_and_are_kept(folder):
    broken = [*VALUES[:30], float("inf"), *[float("nan")] * 20]
    folder.log("a.alog", (STEPS, broken))
    folder.log("a.blog", (STEPS, [round(v, 4) for v in broken]))
    run = folder.run()
    assert len(run.series) == 1
    assert np.isnan(values(run)).sum() == 20


def test_the_log_with_the_restart_is_kept_before_the_clean_history(folder):
    again = [*STEPS[:31], *STEPS[21:]]
    both = [*VALUES[:21], *(v + 0.5 for v in VALUES[21:31]), *VALUES[21:]]
    folder.log("trainer_log.alog", (again, [round(v, 4) for v in both]))
    folder.log("trainer_state.blog", (STEPS, VALUES))
    (only,) = folder.run().series
    assert only.step.tolist() == again


def test_a_log_that_takes_over_from_another_format(folder):
    folder.log("a.alog", (STEPS[:30], VALUES[:30]))
    folder.log("b.blog", (STEPS[30:], VALUES[30:]))
    assert [p[1:3] for p in pieces(folder.run())] == [(0, 290), (300, 500)]


def test_attempts_are_ordered_by_the_clock_and_not_by_name(folder):
    folder.log("z.alog", (STEPS[:30], VALUES[:30]), wall=[1.7e9 + s for s in STEPS[:30]])
    folder.log("a.alog", (STEPS[20:], VALUES[20:]), wall=[1.8e9 + s for s in STEPS[20:]])
    assert [p[0] for p in pieces(folder.run())] == ["z.alog", "a.alog"]


def test_wall_times_survive_where_only_one_view_has_them(folder):
    folder.log("a.alog", (STEPS[:40], VALUES[:40]), wall=[1.7e9 + s for s in STEPS[:40]])
    folder.log("b.blog", rounded(4))
    (only,) = folder.run().series
    assert only.wall_time is not None
    assert np.isfinite(only.wall_time).sum() == 40


def test_rows_without_a_step_get_that_of_their_copy_and_go_on(folder):
    rows = list(range(1, 52))
    folder.log("printed.alog", (rows, [round(v, 4) for v in VALUES]), axis="row")
    folder.log("state.blog", (STEPS[:40], VALUES[:40]))
    (only,) = folder.run().series
    assert only.step.tolist() == STEPS


def test_rows_with_a_fraction_of_an_epoch_are_counted_by_it(folder):
    steps = [*STEPS[1:31], *STEPS[21:]]
    both = [round(v, 4) for v in (*VALUES[1:31], *(v + 0.01 for v in VALUES[21:]))]
    epochs = [round(s / 160, 3) for s in steps]
    rows = list(range(1, len(steps) + 1))
    folder.log("printed.alog", (rows, both), axis="row", more=[("epoch", (rows, epochs))])
    history = (STEPS[1:21], VALUES[1:21])
    epoch = ("epoch", (STEPS[1:21], [s / 160 for s in STEPS[1:21]]))
    folder.log("checkpoint-200/trainer_state.blog", history, more=[epoch])
    loss = next(s for s in folder.run().series if s.tag == "loss")
    assert loss.step.tolist() == steps


def test_rows_are_numbered_by_their_epoch_where_no_step_is_known(folder):
    epochs = [0.25, 0.5, 0.75, 1.0, 0.75, 1.0, 1.25]
    folder.log("a.alog", ([*range(1, 8)], [3, 2.9, 2.8, 2.7, 2.81, 2.71, 2.6]), axis="row",
               more=[("epoch", ([*range(1, 8)], epochs))])  # fmt: skip
    loss = next(s for s in folder.run().series if s.tag == "loss")
    assert loss.step.tolist() == [1, 2, 3, 4, 3, 4, 5]


def test_whole_epochs_number_no_rows(folder):
    folder.log("a.alog", ([1, 2, 3, 4], [4, 3, 2, 1]), axis="row",
               more=[("epoch", ([1, 2, 3, 4], [1, 1, 2, 2]))])  # fmt: skip
    assert folder.run().series[0].step.tolist() == [1, 2, 3, 4]


def test_an_empty_series_is_left_out(folder):
    folder.log("a.alog", (STEPS, VALUES), more=[("lr", ([], []))])
    assert tags(folder.run()) == ["loss"]
