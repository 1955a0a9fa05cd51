"""Looks at the first loss, against that of a guess: what the weights were before any step."""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.causes._looks_text import says
from forensics.phrasing import number
from forensics.run import TextKind
from forensics.signals import Signal


def initial_far_above_chance(case: Case, factor: float = 1.5, nats: float = 1.0) -> Seen:
    """The first loss is far above that of a uniform guess."""
    first, chance = facts.initial_loss(case), facts.chance_loss(case)
    if first is None or chance is None:
        return Seen(None, "Needs the first loss and the number of classes or tokens.")
    level, name = chance
    above = first > max(factor * level, level + nats)
    verb = "was far above" if above else "was not far above"
    return Seen(above, f"The first loss, {number(first)}, {verb} {number(level)} = {name}.")


def wrong_before_steps(case: Case, reach: float = 1e-2) -> Seen:
    """New weights cost far more than a guess before any step can have made them so.

    Of tokens that is the weights' doing: whatever the labels, small logits cost ln(vocabulary).
    """
    first, far = facts.initial_loss(case), initial_far_above_chance(case)
    if far.holds is None or first is None:
        return far
    if case.config.pretrained or case.config.lora or not case.config.vocab_size:
        return NOT_APPLICABLE
    if _is_a_sum(case, first):
        return Seen(None, "Needs the loss of one micro-batch: this one may be a sum of several.")
    begin, logged = case.timeline.first_step, facts.points(case.track(Signal.LR))
    rate = float(logged.value[0]) if logged is not None else facts.highest_lr(case)
    if begin > 1 and (rate is None or rate * begin > reach):
        return Seen(None, "Needs the loss of the very first step.")
    steps = "before any step" if begin <= 1 else f"within {begin:,} steps at rates up to {rate:.2g}"
    return Seen(far.holds, f"{far.text[:-1]}, {steps}." if far.holds else far.text)


def initial_at_chance(case: Case, margin: float = 0.08) -> Seen:
    """The first loss is that of a uniform guess, or worse."""
    first, chance = facts.initial_loss(case), facts.chance_loss(case)
    if first is None or chance is None:
        return Seen(None, "Needs the first loss and the number of classes or tokens.")
    level, name = chance
    at_chance = first >= (1 - margin) * level
    verb = "was at or above" if at_chance else "was well below"
    return Seen(at_chance, f"The first loss, {number(first)}, {verb} {number(level)} = {name}.")


def pretrained_at_chance(case: Case) -> Seen:
    """A run that says it starts from pretrained weights starts with the loss of a guess."""
    if case.config.pretrained is None:
        return Seen(None, "Needs to know whether training starts from pretrained weights.")
    if not case.config.vocab_size:
        return Seen(None, "Needs a language model: a new head for new classes starts at chance.")
    seen = initial_at_chance(case)
    return Seen(case.config.pretrained and seen.holds, seen.text) if seen.holds else seen


def unloaded_at_chance(case: Case) -> Seen:
    """The loader missed weights of a language model, and it starts with the loss of a guess."""
    said = says(TextKind.WEIGHTS_NOT_LOADED)(case)
    if not said.holds or not case.config.vocab_size:
        return NOT_APPLICABLE
    first = initial_at_chance(case)
    return Seen(first.holds, f"{said.text} {first.text}", said.steps, "text")


def _is_a_sum(case: Case, first: float, room: float = 0.08) -> bool:
    """True where the loss is as many guesses as there are micro-batches or processes."""
    chance = facts.chance_loss(case)
    summed = [n for n in (case.config.grad_accum, case.config.world_size) if n and n > 1]
    return chance is not None and any(abs(first / (n * chance[0]) - 1) < room for n in summed)
