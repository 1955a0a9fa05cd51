"""The smaller measurements of a replay, one row each, with what the usual result would be."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from forensics.replay_facts import (
    Determinism,
    LabelShifts,
    LineSearch,
    LoadCheck,
    ModeCheck,
    MomentCheck,
    Overfit,
    Ranks,
    ReplayFacts,
)
from forensics.replay_reading import Check, ReplayReading
from forensics.report.names import Tone
from forensics.report.wording import at, listing, number, percent, plural, sentence, words

NAMES_SHOWN = 4


@dataclass(frozen=True)
class CheckRow:
    """One measurement."""

    name: str
    found: str
    meaning: str
    """What it would be where nothing is wrong, and what this one says."""
    tone: Tone


def check_rows(facts: ReplayFacts, reading: ReplayReading) -> tuple[CheckRow, ...]:
    """Every measurement that was made."""
    rows = []
    for check, worded in _WORDED.items():
        said = worded(facts, check in reading.odd)
        if said is not None:
            rows.append(CheckRow(_NAMES[check], *said, _tone(facts, reading, check)))
    return tuple(rows)


def _tone(facts: ReplayFacts, reading: ReplayReading, check: Check) -> Tone:
    if check in reading.odd:
        return Tone.BAD
    audit = facts.audit
    unseen = audit is None or not any(a.checked for a in audit.suspects)
    return Tone.NEUTRAL if check is Check.CONTENTS and unseen else Tone.GOOD


Said = tuple[str, str] | None
"""What was found and what it means; None where it was not measured."""


def _load(facts: ReplayFacts, odd: bool) -> Said:
    if not facts.loads:
        return None
    found = "; ".join(_loaded(load) for load in facts.loads)
    return found, "a part of the state is missing" if odd else "the model is that of the checkpoint"


def _loaded(load: LoadCheck) -> str:
    parts = [f"{load.checkpoint}: {plural(load.parameters, 'parameter')}"]
    for fault, names in (
        ("missing", load.missing),
        ("unexpected", load.unexpected),
        ("of another shape", load.mismatched),
    ):
        more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
        if names:
            parts.append(f"{fault}: {', '.join(names[:NAMES_SHOWN])}{more}")
    if load.optimizer is None:
        parts.append("no optimizer state saved")
    elif load.optimizer:
        parts.append("optimizer state restored")
    else:
        parts.append(f"optimizer state does not fit: {load.optimizer_trouble or 'no reason known'}")
    return ", ".join(parts)


def _contents(facts: ReplayFacts, odd: bool) -> Said:
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


def _determinism(facts: ReplayFacts, odd: bool) -> Said:
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


def _line(facts: ReplayFacts, odd: bool) -> Said:
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


def _moments(facts: ReplayFacts, odd: bool) -> Said:
    found = facts.moments
    if found is None:
        return None
    return "; ".join(_ratios(found)), (
        "a factor is missing, or the second moment is stale" if odd else "the state fits"
    )


def _ratios(found: MomentCheck) -> list[str]:
    parts = []
    if found.logged_ratio is not None:
        spread = "" if found.logged_spread is None else f" (within × {found.logged_spread:.3g})"
        parts.append(
            f"logged gradient norm {number(found.logged_ratio, 3)} of the replayed{spread}"
        )
    if found.moment_ratio is not None:
        parts.append(f"√v̂ {number(found.moment_ratio, 3)} of the replayed norm")
    if found.clip_factor is not None and found.clip_factor < 1:
        parts.append(f"clipping leaves {percent(found.clip_factor)} of it")
    for name, rms in list(found.suspect_rms.items())[:1]:
        usual = found.control_rms.get(name)
        beside = "" if usual is None else f", {number(usual, 3)} for the controls"
        parts.append(f"RMS_t of {at(found.step)} up to {number(rms, 3)} in {name}{beside}")
    return parts or ["nothing could be compared"]


def _shifts(facts: ReplayFacts, odd: bool) -> Said:
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


def _overfit(facts: ReplayFacts, odd: bool) -> Said:
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


def _modes(facts: ReplayFacts, odd: bool) -> Said:
    found = facts.modes
    if found is None:
        return None
    return _both_modes(found), (
        "the running statistics do not describe the data" if odd else "the statistics fit"
    )


def _both_modes(found: ModeCheck) -> str:
    told = f"loss in training mode {number(found.train_loss)}, in evaluation mode "
    told += number(found.eval_loss)
    if found.recomputed_loss is not None:
        told += f", with the statistics taken anew {number(found.recomputed_loss)}"
    if found.batch_size is not None:
        told += f"; {plural(found.batch_size, 'sample')} a batch"
    return told


def _ranks(facts: ReplayFacts, odd: bool) -> Said:
    found = facts.ranks
    if found is None:
        return None
    return _norms(found), "the gradient is not the mean over ranks" if odd else "a mean over ranks"


def _norms(found: Ranks) -> str:
    ways = [
        f"averaged {number(found.mean_norm, 3)}",
        f"summed {number(found.sum_norm, 3)}",
        f"of one rank {number(found.alone_norm, 3)}",
        f"as the run reduces it {number(found.reduced_norm, 3)}",
    ]
    apart = "" if found.weights_agree else "; after one step their weights differ"
    unlogged = found.logged_norm is None
    logged = "not logged" if unlogged else f"logged {number(found.logged_norm or 0.0, 3)}"
    ranks = f"gradient norm on {found.world} ranks ({found.wrapper})"
    return f"{ranks} {listing(ways)}; {logged}{apart}"


_NAMES = {
    Check.LOAD: "What was loaded",
    Check.CONTENTS: "What the batch holds",
    Check.DETERMINISM: "Determinism",
    Check.LINE: "Line search",
    Check.MOMENTS: "Optimizer state against gradients",
    Check.SHIFTS: "Label shifts",
    Check.OVERFIT: "One batch alone",
    Check.MODES: "BatchNorm in both modes",
    Check.RANKS: "Across ranks",
}
_WORDED: dict[Check, Callable[[ReplayFacts, bool], Said]] = {
    Check.LOAD: _load,
    Check.CONTENTS: _contents,
    Check.DETERMINISM: _determinism,
    Check.LINE: _line,
    Check.MOMENTS: _moments,
    Check.SHIFTS: _shifts,
    Check.OVERFIT: _overfit,
    Check.MODES: _modes,
    Check.RANKS: _ranks,
}
