"""Places of a run in words: which batch, between which steps, from which point on."""

from forensics.case import Case
from forensics.causes import _spikes as spikes
from forensics.phrasing import at_step, between, listing, the_batch, unit
from forensics.run import Axis


def batch_words(case: Case) -> str:
    """The batches to suspect for the main spike or the first non-finite loss."""
    steps = spikes.suspect_steps(case)
    if len(steps) == 1:
        return the_batch(steps[0])
    if steps:
        return f"the batches of {between(steps[0], steps[-1])}"
    return f"the batch of {onset_words(case)}"


def broken_words(case: Case) -> str:
    """The batches whose loss was not finite."""
    steps = spikes.non_finite_steps(case, most=4)
    if len(steps) > 1 and case.timeline.axis is Axis.STEP:
        return f"the batches of {listing(steps)}"
    # Of whole epochs the first alone: from there on the weights may be poisoned.
    return the_batch(steps[0]) if steps else f"the batch of {onset_words(case)}"


def onset_words(case: Case) -> str:
    """Where the failure began, as narrow as the log interval allows."""
    onset, after = case.judgement.onset_step, case.judgement.after_step
    if onset is None:
        return f"the suspect {unit()}"
    if after is not None and onset - after > 1:
        return between(after + 1, onset)
    return at_step(onset)
