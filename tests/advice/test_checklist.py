from dataclasses import replace

import numpy as np

from forensics.advice.checklist import checklist_for
from forensics.findings import ClipFacts
from forensics.run import Config
from forensics.signals import Signal
from tests.advice.checkpointed import checkpoint, with_checkpoints
from tests.causes.cases import healthy_case, make_case


def line(case, name):
    return next(item for item in checklist_for(case) if item.name == name)


def configured(**settings):
    return make_case(config=Config(**settings))


def test_a_bare_run_is_unknown_and_never_fine():
    bare = {item.name: item for item in checklist_for(make_case())}
    assert bare["Gradient norm"].good is False
    del bare["Gradient norm"]
    assert all(item.good is None for item in bare.values())
    assert bare["Precision"].found == "unknown"


def test_a_rate_that_is_no_fine_tuning_is_not_judged():
    assert line(configured(lr_peak=0.1, optimizer="sgd"), "Peak learning rate").good is None
    scratch = configured(lr_peak=3e-4, optimizer="adamw", vocab_size=50257)
    assert line(scratch, "Peak learning rate").good is None


def test_a_rate_first_logged_late_does_not_prove_a_missing_warmup():
    late = make_case(lr=np.full(20, 1e-4), first_step=50, interval=50)
    assert line(late, "Warm-up").good is None
    assert line(make_case(lr=np.full(20, 1e-4)), "Warm-up").good is False


def test_a_column_of_zeros_is_not_a_logged_gradient():
    case = make_case([1.0, 2.0], tracks={Signal.GRAD_NORM: [0.0, 0.0]})
    assert line(case, "Gradient norm").good is False


def test_clipping_near_one_is_good():
    assert line(configured(clip_threshold=1.0), "Gradient clipping").good is True
    assert line(configured(clip_threshold=0.0), "Gradient clipping").good is False
    assert line(configured(clip_threshold=50.0), "Gradient clipping").good is False


def test_above_a_fifth_of_clipped_steps_the_rate_is_suspect():
    often = make_case(clip=ClipFacts(1.0, 0.35, 0.5))
    seldom = make_case(clip=ClipFacts(1.0, 0.05, 0.0))
    assert line(often, "Clipped steps").good is False
    assert "35 %" in line(often, "Clipped steps").found
    assert line(seldom, "Clipped steps").good is True


def test_fine_tuning_rates_are_held_against_their_kind():
    def peak(**more):
        common = {"optimizer": "adamw", "vocab_size": 32000, "pretrained": True}
        return line(configured(**(common | more)), "Peak learning rate").good

    assert peak(lora=True, lr_peak=2e-4) is True
    assert peak(lora=True, lr_peak=1e-3) is False
    assert peak(lora=False, lr_peak=2e-4) is False
    assert peak(lora=False, lr_peak=1e-5) is True
    assert peak(lora=None, lr_peak=1e-5) is None


def test_precision_and_schedule_are_judged_by_name():
    assert line(configured(precision="fp16"), "Precision").good is False
    assert line(configured(precision="bf16"), "Precision").good is True
    assert line(configured(schedule="constant_with_warmup"), "Schedule").good is False
    assert line(configured(schedule="cosine"), "Schedule").good is True
    assert line(configured(schedule="custom"), "Schedule").good is None


def test_a_logged_rate_shows_its_decay():
    assert line(healthy_case(), "Schedule").good is True
    assert line(make_case(lr=np.full(50, 1e-3)), "Schedule").good is False


def test_warmup_is_a_share_of_the_run():
    def warm(steps, total):
        return line(configured(warmup_steps=steps, total_steps=total), "Warm-up").good

    assert warm(30, 1000) is True
    assert warm(2, 1000) is False
    assert warm(2000, 1_000_000) is True
    assert line(configured(warmup_ratio=0.03, total_steps=1000), "Warm-up").good is True


def test_a_filter_that_hides_nan_is_named():
    assert line(configured(nan_filter=True), "Non-finite values").good is False
    assert line(configured(nan_filter=False), "Non-finite values").good is True


def test_checkpoints_are_counted_where_they_lie():
    often = with_checkpoints(healthy_case(), [checkpoint(s) for s in range(20, 301, 20)])
    assert line(often, "Checkpoint interval").good is True
    assert line(often, "Checkpoints kept").good is True
    seldom = with_checkpoints(healthy_case(), [checkpoint(150), checkpoint(300)])
    assert line(seldom, "Checkpoint interval").good is False
    few = replace(seldom, run=replace(seldom.run, config=Config(save_total_limit=1)))
    assert line(few, "Checkpoints kept").good is False


def test_every_tenth_of_a_run_counted_from_nought_is_a_tenth():
    case = make_case(np.geomspace(3, 1, 1000), first_step=0)
    saved = with_checkpoints(case, [checkpoint(s) for s in (100, 200, 300)])
    found = line(saved, "Checkpoint interval")
    assert (found.found, found.good) == ("every 100 steps", True)
