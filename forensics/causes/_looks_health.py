"""Looks at whether anything went wrong at all."""

import numpy as np

from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Seen
from forensics.findings import EpisodeKind, Outcome, Severity
from forensics.medians import median, row_medians
from forensics.phrasing import at_step, number
from forensics.quantities import JUDGED, named
from forensics.signals import Signal


def nothing_failed(case: Case) -> Seen:
    """No episode counts as a failure."""
    if case.judgement.outcome is Outcome.UNKNOWN:
        return Seen(None, "Needs enough logged points to tell how the run ended.")
    failed = [e for e in case.episodes if e.severity is Severity.FAILURE]
    if failed:
        name = failed[0].kind.noun
        return Seen(
            False,
            f"A {name} at {at_step(failed[0].onset_step)} counts as a failure.",
            (failed[0].onset_step,),
        )
    if case.judgement.outcome.is_failure:
        return NOT_APPLICABLE
    told = [s for s in Signal if s in JUDGED and s in case.timeline.tracks]
    if not told:
        return Seen(None, "Needs a loss, a metric or a gradient norm to look at.")
    return Seen(True, f"Nothing counts as a failure in the {_listed([named(s) for s in told])}.")


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def ends_near_best(case: Case, share: float = 0.05) -> Seen:
    """The loss ends near the best level it ever had."""
    found = facts.points(case.track(Signal.TRAIN_LOSS))
    if found is None or len(found) < 10:
        return Seen(None, "Needs ten training losses.")
    width = max(len(found) // 20, 3)
    count_of_windows = len(found) // width
    levels = row_medians(found.value[-count_of_windows * width :].reshape(-1, width))
    best, last = float(levels.min()), float(levels[-1])
    noise = median(np.abs(np.diff(found.value)))
    return Seen(
        last <= best + share * abs(best) + noise,
        f"The loss ends at {number(last)}; the best level of its {count_of_windows} stretches is "
        f"{number(best)}.",
    )


def validation_unseen(case: Case) -> Seen:
    """Nothing was measured on data held out: what was learned is not to be seen."""
    held_out = (Signal.EVAL_LOSS, Signal.EVAL_ACCURACY, Signal.EVAL_ERROR)
    judged_well = case.judgement.outcome is Outcome.HEALTHY
    if not judged_well or any(case.track(signal) is not None for signal in held_out):
        return NOT_APPLICABLE
    return Seen(True, "Nothing measured on validation data was logged.")


def came_to_rest(case: Case) -> Seen:
    """The loss came to rest soon and high, though nothing says that this was all to be had."""
    found = case.episodes_of(EpisodeKind.PLATEAU)
    if not found:
        return NOT_APPLICABLE
    level = found[0].details.get("level", found[0].baseline)
    where = "on one level" if level is None else f"at {number(float(level))}"
    return Seen(
        True,
        f"From {at_step(found[0].onset_step)} on the loss rests {where}.",
        (found[0].onset_step,),
    )
