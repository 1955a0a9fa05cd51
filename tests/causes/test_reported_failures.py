"""What people report, and what turned out to be the cause: the ranking must keep it in sight.

Each run is made up after the pattern of public reports: the settings somebody would name and the
few numbers they would paste.
"""

from typing import Any

import numpy as np
import pytest

from forensics.case import Case
from forensics.causes import rank
from forensics.findings import Ending, EpisodeKind, Outcome, Severity
from forensics.run import Config
from forensics.signals import Signal
from tests.causes.cases import make_case, make_episode
from tests.causes.failures import (
    RUN,
    broke_to_nan,
    cosine,
    divergence,
    gradient_jump,
    lasting_spike,
    non_finite,
    settled,
    stalled,
)
from tests.causes.shapes import falling, loss_spike, plateau, steady

NAN = float("nan")


def single_nan(onset: int, count: int) -> Any:
    return make_episode(
        EpisodeKind.NON_FINITE,
        onset,
        severity=Severity.WARNING,
        ending=Ending.RECOVERED,
        kind="nan",
        persistent=False,
        count=count,
    )


def zeros_for_nan(onset: int) -> Any:
    return make_episode(EpisodeKind.HIDDEN_NON_FINITE, onset, how="nan_filter", shown=0.0)


def half_precision_with_single_nan() -> Case:
    return make_case(
        loss=[4.9, 4.7, 9e4, 4.8, 4.6, NAN, 4.7, NAN, 4.5, 4.6],
        grad_norm=[1.1, 1.0, NAN, 1.0, 0.9, 1.0, 1.1, 0.9, 1.0, 1.0],
        lr=[2e-4] * 10,
        config=Config(precision="fp16", model="gemma-2b", pretrained=True),
        outcome=Outcome.NON_FINITE,
        onset=3,
        episodes=[loss_spike(3, 9e4, base=4.8), single_nan(6, 2)],
    )


def adapter_rate_for_all_weights_in_half_precision() -> Case:
    return make_case(
        loss=[1.1, 0.9, 0, 0, 0, 0],
        lr=[3e-4] * 6,
        interval=10,
        first_step=10,
        config=Config(precision="fp16", optimizer="adamw_torch", pretrained=True),
        outcome=Outcome.NON_FINITE,
        onset=30,
        episodes=[zeros_for_nan(30)],
    )


def nan_as_the_warmup_ends() -> Case:
    loss = np.r_[falling(points=200), np.full(50, NAN)]
    return make_case(
        loss,
        lr=np.r_[np.linspace(0, 6e-4, 200), np.full(50, 6e-4)],
        interval=10,
        first_step=10,
        config=Config(optimizer="adamw", warmup_steps=2000, total_steps=600_000, model="gpt2"),
        outcome=Outcome.NON_FINITE,
        onset=2010,
        episodes=[non_finite(2010)],
    )


def rate_for_sixteen_images_with_two() -> Case:
    config = Config(
        optimizer="SGD", lr_peak=0.02, global_batch=2, warmup_steps=1000, model="mask_rcnn"
    )
    return broke_to_nan(27, grad_norm=None, config=config, episodes=[non_finite(27)])


def adam_at_a_rate_of_one() -> Case:
    config = Config(optimizer="adam", lr_peak=1.0)
    return broke_to_nan(3, grad_norm=None, config=config, episodes=[non_finite(3)])


def constant_rate_explodes_late() -> Case:
    loss = np.r_[falling(1.0, 140), np.full(10, 2e4)]
    return make_case(
        loss,
        lr=np.full(150, 1e-3),
        interval=100,
        config=Config(optimizer="adam"),
        outcome=Outcome.DIVERGED,
        onset=14_001,
        episodes=[lasting_spike(14_001, 2e4), divergence(14_001)],
    )


def adapter_jumps_to_a_stable_level() -> Case:
    config = Config(
        optimizer="adamw_torch", lora=True, pretrained=True, warmup_ratio=0.03, total_steps=RUN
    )
    return settled(90, 6.6, lr=cosine(3e-4), config=config)


def schedule_stepped_every_batch() -> Case:
    config = Config(optimizer="sgd", num_classes=1000, total_steps=1000)
    rate = 1e-3 * 10.0 ** -np.arange(RUN)
    return stalled(8.1, "initial", lr=rate, grad_norm=None, config=config)


def updates_lost_in_bf16() -> Case:
    config = Config(optimizer="adamw", precision="bf16", pretrained=True)
    return stalled(0.76, "initial", lr=np.full(RUN, 6e-6), config=config)


def recurrent_net_behind_a_loose_threshold() -> Case:
    gradient = np.r_[steady(0.4, 197), 60.0, 400.0, np.full(RUN - 199, NAN)]
    return broke_to_nan(
        200,
        grad_norm=gradient,
        first_mover=Signal.GRAD_NORM,
        config=Config(optimizer="sgd", clip_threshold=5.0, model="lstm"),
        episodes=[gradient_jump(198, 1000.0), non_finite(200)],
    )


def last_batch_of_one() -> Case:
    broken = make_episode(
        EpisodeKind.VALIDATION_FAILURE, 40, signal=Signal.EVAL_LOSS, form="non_finite"
    )
    return make_case(
        falling(),
        eval_loss=[NAN] * 5,
        config=Config(normalization="batchnorm"),
        outcome=Outcome.VALIDATION_FAILED,
        onset=40,
        episodes=[broken],
    )


def weights_themselves_in_half_precision() -> Case:
    return make_case(
        loss=[0.69] + [0.0] * 20,
        lr=[5e-5] * 21,
        config=Config(precision="fp16", pretrained=True),
        outcome=Outcome.NON_FINITE,
        onset=2,
        episodes=[zeros_for_nan(2)],
    )


def kernel_that_breaks_backward() -> Case:
    return broke_to_nan(12, gradient_first=1, config=Config(precision="bf16", pretrained=True))


def spikes_that_outlast_every_optimizer() -> Case:
    steps = [100, 200, 280]
    run = make_episode(EpisodeKind.CONSECUTIVE_SPIKES, 100, count=3, escalating=True, steps=steps)
    config = Config(
        optimizer="adamw", betas=(0.9, 0.95), clip_threshold=0.2, model="llama", precision="bf16",
        warmup_steps=10, total_steps=1000,
    )  # fmt: skip
    episodes = [run, *(loss_spike(s, 3.0) for s in steps), lasting_spike(320, 1.5)]
    return settled(320, 3.4, interval=20, config=config, episodes=episodes)


@pytest.mark.parametrize(
    ("case", "cause", "place"),
    [
        (half_precision_with_single_nan(), "fp16_overflow", 1),
        (adapter_rate_for_all_weights_in_half_precision(), "fp16_overflow", 2),
        (adapter_rate_for_all_weights_in_half_precision(), "learning_rate_too_high", 2),
        (nan_as_the_warmup_ends(), "learning_rate_too_high", 2),
        (rate_for_sixteen_images_with_two(), "learning_rate_too_high", 3),
        (adam_at_a_rate_of_one(), "learning_rate_too_high", 1),
        (constant_rate_explodes_late(), "learning_rate_too_high", 1),
        (adapter_jumps_to_a_stable_level(), "learning_rate_too_high", 2),
        (schedule_stepped_every_batch(), "learning_rate_too_low", 1),
        (updates_lost_in_bf16(), "weights_not_updated", 1),
        (recurrent_net_behind_a_loose_threshold(), "gradient_clipping_missing", 1),
        (last_batch_of_one(), "batchnorm_instability", 1),
        (weights_themselves_in_half_precision(), "fp16_overflow", 1),
        (kernel_that_breaks_backward(), "unstable_loss_function", 1),
        (spikes_that_outlast_every_optimizer(), "attention_logit_growth", 3),
    ],
)
def test_the_established_cause_stays_in_sight(case: Case, cause: str, place: int) -> None:
    hypotheses, _ = rank(case)
    assert cause in [h.cause for h in hypotheses[:place]]


def test_a_spike_that_heals_by_itself_convicts_no_setting() -> None:
    """A large run whose gradient grew for four steps before a spike, back within thirty."""
    loss = np.r_[np.full(100, 2.2), 2.22, 2.6, 2.24, 2.35, 5.1, 3.5, 3.2, 2.8, np.full(92, 2.2)]
    norm = np.r_[np.full(100, 0.24), 0.9, 2.4, 16, 145, 960, 350, 380, 650, np.full(92, 0.24)]
    case = make_case(
        loss,
        norm,
        np.full(200, 5e-5),
        first_step=31_114,
        config=Config(optimizer="adam", clip_threshold=1.0, precision="bf16", total_steps=90_000),
        outcome=Outcome.SPIKED_RECOVERED,
        onset=31_215,
        first_mover=Signal.GRAD_NORM,
        episodes=[gradient_jump(31_215, 4000.0), loss_spike(31_216, 5.1, base=2.2)],
    )
    optimisation = [h for h in rank(case)[0] if h.family in ("optimisation", "model", "precision")]
    assert max(h.probability for h in optimisation) < 0.2


def test_logs_alone_leave_room_for_doubt() -> None:
    """Of a loss that climbs away, with nothing else known, no cause is likely."""
    loss = falling(points=RUN)
    loss[250:] = 9.0
    case = make_case(
        loss, outcome=Outcome.DIVERGED, onset=251, episodes=[lasting_spike(251), divergence(251)]
    )
    hypotheses, unexplained = rank(case)
    assert hypotheses[0].probability < 0.5
    assert unexplained > 0.1


def test_a_plateau_alone_names_nothing() -> None:
    case = stalled(3.3, "unnamed", grad_norm=None, lr=None, config=Config())
    hypotheses, unexplained = rank(case)
    assert hypotheses[0].probability < 0.5
    assert unexplained > 0.1
    assert plateau(3.3, "unnamed").details["from_start"]
