"""Looks at single values: levels at which no healthy run of the kind stands.

A log of one to four lines has no trend. What is trained still says which losses are possible: a
pretrained language model does not stand at 6 nats a token in mid-run, and no vocabulary is so large
that a guess costs 20 nats.
"""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.detectors._language import is_language_model
from forensics.findings import Outcome
from forensics.medians import median
from forensics.phrasing import at_step, number, percent
from forensics.signals import Signal

LARGEST_GUESS, SMALLEST_GUESS = 12.5, 9.0
"""ln of the largest vocabularies in use (262,144), and of a small one of subwords (8,000)."""
LOST = 5.0
"""Nats a token. Pretrained models stand at 0.5 to 3; a model that knows frequencies alone at 7."""


def first_above_any_guess(case: Case) -> Seen:
    """The first loss is more than any guess over tokens costs; one micro-batch's share is not."""
    steps, first = case.config.grad_accum, facts.initial_loss(case)
    if not steps or steps < 2 or first is None or not is_language_model(case.config):
        return NOT_APPLICABLE
    if facts.chance_loss(case) is not None or first <= LARGEST_GUESS:
        return NOT_APPLICABLE
    share = first / steps
    return Seen(
        SMALLEST_GUESS <= share <= LARGEST_GUESS,
        f"The first loss, {number(first)}, is more than a guess among 262,144 tokens costs "
        f"({number(LARGEST_GUESS)}); over {steps:,} micro-batches it is {number(share)}.",
    )


def lost_in_midrun(case: Case, begun: float = 0.05) -> Seen:
    """A pretrained language model stands where one stands that has lost its training."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    trained = bool(case.config.pretrained or case.config.lora)
    if found is None or not trained or not is_language_model(case.config):
        return NOT_APPLICABLE
    last, planned = int(found.step[-1]), case.config.total_steps
    if not facts.counts_steps(case) or not planned or last < begun * planned:
        return Seen(None, "Needs a loss from beyond the first steps, and the planned steps.")
    level = median(found.value[-5:])
    return Seen(
        level >= LOST,
        f"At {at_step(last)}, {percent(last / planned)} of the planned run, the loss is "
        f"{number(level)}; a pretrained model stands below 3.",
        (last,),
    )


def lost_at_high_rate(case: Case, share: float = 0.5) -> Seen:
    """The same, while the learning rate is near its peak."""
    seen = lost_in_midrun(case)
    peak = case.config.lr_peak
    rate = None if not seen.holds else facts.value_at(case, Signal.LR, seen.steps[0])
    if rate is None or not peak:
        return NOT_APPLICABLE
    held = f"The learning rate is then {number(rate)}, its peak {number(peak)}."
    return Seen(rate >= share * peak, f"{seen.text} {held}", seen.steps)


def level_of_no_healthy_run(case: Case) -> Seen:
    """Too little was logged to tell how the run ended, yet what was logged is not healthy."""
    if case.judgement.outcome is not Outcome.UNKNOWN:
        return NOT_APPLICABLE
    looks = (first_above_any_guess, lost_in_midrun)
    return next((seen for look in looks if (seen := look(case)).holds), NOT_APPLICABLE)
