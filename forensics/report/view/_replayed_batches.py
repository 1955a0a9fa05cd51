"""What the replay measured on single batches and steps, in words."""

import math

from forensics.replay_facts import Determinism, LabelShifts, LineSearch, Overfit, ReplayFacts
from forensics.report.wording import at, listing, number, percent, plural, sentence, words

Said = tuple[str, str] | None
"""What was found and what it means; None where it was not measured."""


def contents(facts: ReplayFacts, odd: bool) -> Said:
    """What the suspect batch holds."""
    audit = facts.audit
    if audit is None or not audit.audits:
        return None
    findings = [f for a in audit.suspects for f in a.findings] + list(audit.everywhere)
    more = f" And {plural(len(findings) - 2, 'more finding')}." if len(findings) > 2 else ""
    told = " ".join(sentence(f.text) for f in findings[:2]) + more
    checked = sorted({words(kind.value) for a in audit.suspects for kind in a.checked})
    if not findings and not checked:
        return "of its tensors nothing could be told by their names", "it was not checked"
    looked = f"nothing odd; checked for {listing(checked)}"
    return told or looked, "the batch itself is odd" if odd else "the batch looks like the others"


def determinism(facts: ReplayFacts, odd: bool) -> Said:
    """The same step, several times."""
    found = facts.determinism
    if found is None:
        return None
    told = (
        f"{at(found.step)} done {len(found.losses)} times: {percent(found.equal_share)} of the"
        f" repeats equal to the last bit; {_reseeded(found)}"
    )
    return told, "kernels without a fixed order, or hardware" if odd else "the same every time"


def _reseeded(found: Determinism) -> str:
    if not found.reseeded_losses:
        return "no other seed was tried"
    gaps = [abs(loss - found.losses[0]) for loss in found.reseeded_losses]
    if not any(gaps):
        return "another seed changes nothing"
    return f"another seed moves the loss by up to {number(max(gaps), 2)}"


def line(facts: ReplayFacts, odd: bool) -> Said:
    """The loss along the optimizer's update."""
    found = facts.line
    if found is None:
        return None
    return _critical(found), (
        "the rate is above the critical one: an update raises the loss of its own batch"
        if odd
        else "the rate is below the critical one"
    )


def _critical(found: LineSearch) -> str:
    where = f"along the update of {at(found.step)}"
    if math.isinf(found.critical):
        most = number(found.multiples[-1], 3) if found.multiples else "every multiple"
        return f"the loss falls {where} up to {most} times the run's rate"
    if found.critical <= 0:
        return f"the loss rises {where} from the shortest step on"
    share = number(1 / found.critical, 2)
    return (
        f"the loss falls {where} up to {number(found.critical, 3)} times the run's rate:"
        f" lr over critical lr is {share}"
    )


def shifts(facts: ReplayFacts, odd: bool) -> Said:
    """The labels, moved along the sequence."""
    found = facts.shifts
    if found is None:
        return None
    return _shifted(found), (
        f"the labels fit when moved by {found.best:+d}" if odd else "the labels stand where they do"
    )


def _shifted(found: LabelShifts) -> str:
    shifts = [f"{shift:+d}: {number(loss)}" for shift, loss in found.losses.items() if shift]
    moved = f"; moved by {', '.join(shifts)}" if shifts else ""
    own = number(found.losses[0]) if 0 in found.losses else "unknown"
    return f"loss as the run did it {own}{moved}; in random order {number(found.permuted)}"


def overfit(facts: ReplayFacts, odd: bool) -> Said:
    """One batch, trained alone."""
    found = facts.overfit
    if found is None or not found.losses:
        return None
    return _alone(found), (
        "the model does not learn even one batch" if odd else "the model can learn a batch"
    )


def _alone(found: Overfit) -> str:
    told = f"the batch of {at(found.step)} alone: {_fall(found.losses)}"
    if found.permuted_losses:
        told += f"; with its labels permuted {_fall(found.permuted_losses)}"
    return told


def _fall(losses: tuple[float, ...]) -> str:
    return f"{number(losses[0])} → {number(losses[-1])} in {plural(len(losses), 'step')}"
