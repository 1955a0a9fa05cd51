"""Looks at the configured optimizer and batch."""

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Look, Seen
from forensics.causes._looks_model import parameter_count, setting
from forensics.causes._lr_ranges import OptimizerKind, optimizer_kind
from forensics.phrasing import count, number


def adaptive_optimizer(case: Case) -> Seen:
    """The optimizer divides by a running second moment, as Adam does."""
    kind, name = optimizer_kind(case), case.config.optimizer
    if kind is OptimizerKind.UNKNOWN:
        return setting(None, "Needs the name of the optimizer.")
    adaptive = kind is OptimizerKind.ADAPTIVE
    verb = "divides" if adaptive else "does not divide"
    return setting(
        adaptive, f"The optimizer, {name or 'an Adam'}, {verb} by a running second moment."
    )


def beta2_long(case: Case) -> Seen:
    """Adam's second moment remembers a thousand steps or more."""
    if case.config.betas is None:
        return setting(None, "Needs Adam's beta2.")
    beta2 = case.config.betas[1]
    return setting(
        beta2 >= 0.999,
        f"With beta2 = {beta2:g} the second moment remembers {number(1 / max(1 - beta2, 1e-9))} "
        "steps.",
    )


def beta2_short(case: Case) -> Seen:
    """Adam's second moment follows the gradient closely."""
    if case.config.betas is None:
        return NOT_APPLICABLE
    beta2 = case.config.betas[1]
    return setting(beta2 <= 0.96, f"beta2 = {beta2:g} lets the second moment follow quickly.")


def epsilon_large(case: Case, limit: float = 1e-4) -> Seen:
    """Epsilon is larger than the root of the second moment usually is."""
    eps = case.config.eps
    if eps is None:
        return setting(None, "Needs Adam's epsilon.")
    return setting(eps >= limit, f"Epsilon is {number(eps)}; 1e-8 is usual.")


def gradient_at_epsilon(case: Case, factor: float = 10.0) -> Seen:
    """The usual gradient entry is no larger than ten times Adam's epsilon."""
    usual, size, eps = facts.usual_gradient(case), parameter_count(case), case.config.eps
    if usual is None or size is None or not eps:
        return Seen(None, "Needs the gradient norm, Adam's epsilon and the size of the model.")
    entry = usual / size**0.5
    return Seen(
        entry <= factor * eps,
        f"The root mean square of a gradient entry is about {number(entry)}, epsilon is "
        f"{number(eps)}.",
    )


def large_batch(case: Case, least: int = 1024) -> Seen:
    """Batches are large, so that the noise that keeps the second moment up is small."""
    batch = case.config.effective_batch
    if batch is None:
        return setting(None, "Needs the batch size.")
    return setting(batch >= least, f"One step sees {batch:,} samples.")


def batch_per_device_below(limit: int) -> Look:
    """A look that holds where a device normalises over fewer than ``limit`` samples."""

    def look(case: Case) -> Seen:
        batch = case.config.micro_batch
        if batch is None:
            return setting(None, "Needs the batch size of one device.")
        return setting(batch < limit, f"One device sees {count(batch, 'sample')} at a time.")

    return look


def weight_decay_off(case: Case) -> Seen:
    """No weight decay holds the weights down."""
    decay = case.config.weight_decay
    if decay is None:
        return setting(None, "Needs the weight decay.")
    return setting(decay == 0, f"The weight decay is {number(decay)}.")


def weight_decay_extreme(case: Case) -> Seen:
    """A hundredth of the weights or more is taken every step."""
    return weight_decay_high(case, decoupled=1e-2, coupled=0.1)


def weight_decay_high(case: Case, decoupled: float = 1e-3, coupled: float = 1e-2) -> Seen:
    """The weights would shrink to a third within a thousand steps if nothing pushed back."""
    decay, lr = case.config.weight_decay, facts.highest_lr(case)
    if decay is None:
        return setting(None, "Needs the weight decay.")
    if optimizer_kind(case) is OptimizerKind.PLAIN:
        return setting(
            decay >= coupled, f"The weight decay is {number(decay)}, added to gradients."
        )
    if lr is None:
        return setting(None, "Needs the learning rate, by which the decay is multiplied.")
    rate = decay * lr
    return setting(
        rate >= decoupled,
        f"Weight decay {number(decay)} at a learning rate of {number(lr)} takes {number(rate)} of "
        "the weights a step.",
    )
