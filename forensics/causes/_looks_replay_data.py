"""Looks at what the replay says about the suspect batch and the labels."""

import math

from forensics import replay_reading
from forensics.batch_facts import Oddity
from forensics.case import Case
from forensics.causes._base import Seen
from forensics.causes._replayed import (
    NO_ANSWER,
    NO_REPLAY,
    SPECIFIC,
    first_comparison,
    oddities,
    removing,
    replayed,
    reproduces,
    stands_out,
    suspect_step,
    told,
    tried,
    worse_than_untrained,
)
from forensics.findings import Outcome
from forensics.phrasing import at_step, number
from forensics.replay_facts import Phase, Role, Variant


def damaged_batch(case: Case) -> Seen:
    """Left out, the failure does not come; and what it holds is damaged."""
    skipped = _goes_with_the_batch(case)
    if skipped is not True:
        return _not_the_batch(case, skipped)
    found = oddities(case)
    if found and any(f.oddity in SPECIFIC for f in found):
        return NO_ANSWER
    worse = worse_than_untrained(case)
    if not found and not worse:
        return NO_ANSWER if worse is None and found is None else Seen(None, source="replay")
    why = found[0].text if found else "At sound weights it costs more than an untrained model pays."
    return Seen(True, f"{_without(case)} {why}", _step(case), "replay")


def valid_batch(case: Case) -> Seen:
    """Left out, the failure does not come; and nothing is wrong with what it holds."""
    skipped = _goes_with_the_batch(case)
    if skipped is not True:
        return _not_the_batch(case, skipped)
    found, worse = oddities(case), worse_than_untrained(case)
    if found or worse:
        return Seen(False, "The suspect batch is damaged rather than hard.", source="replay")
    if found is None or worse is None:
        return NO_ANSWER
    if case.judgement.outcome.is_failure and removing(case, Variant.CLIP_ONE, Variant.CLIP_P90):
        return NO_ANSWER
    words = (
        f"{_without(case)} Nothing in its contents is out of the ordinary, and sound weights do no "
        "worse on it than an untrained model."
    )
    return Seen(True, words, _step(case), "replay")


def batch_bad_everywhere(case: Case) -> Seen:
    """The suspect batch stands out at the checkpoint before and at a much earlier one."""
    replay = case.replay
    if replay is None:
        return NO_REPLAY
    earlier, out = replay.comparison(Role.EARLIER), stands_out(case)
    long_before = None if earlier is None else replay_reading.stands_out(earlier)
    if earlier is None or out is None or long_before is None:
        return Seen(None, "Needs a replay at two healthy checkpoints.", source="replay")
    worst = max(earlier.loss_z, earlier.grad_z)
    words = (
        f"At {earlier.checkpoint}, long before, the suspect batch stands out by "
        f"{number(worst)} standard deviations of its neighbours"
    )
    if out and long_before:
        return Seen(True, f"{words}, as it does just before: it is the data.", source="replay")
    return Seen(False, f"{words}; that is not the batch alone.", source="replay")


def input_not_finite(case: Case) -> Seen:
    """The batch as loaded holds NaN or infinity."""
    found = _oddity(case, Oddity.NON_FINITE_INPUT)
    search = next((s for s in case.replay.searches if s.found), None) if case.replay else None
    if search is not None and search.found is not None:
        first = search.found
        holds = first.phase is Phase.INPUT
        words = (
            f"In the step that fails, the batch holds {first.kind}: {', '.join(first.inputs)}."
            if holds
            else f"In the step that fails everything that goes in is finite ({first.operation} "
            "makes the first non-finite value)."
        )
        return Seen(holds, words, (search.step,), "replay")
    if found and case.replay is not None and reproduces(case):
        return Seen(True, found, _step(case), "replay")
    return NO_ANSWER


def all_labels_masked(case: Case) -> Seen:
    """Replayed, the batch of which every label is masked gives the non-finite loss."""
    comparison, found = first_comparison(case), _oddity(case, Oddity.LABELS_ALL_MASKED)
    if comparison is None or oddities(case) is None:
        return NO_ANSWER
    broken = not math.isfinite(comparison.suspect.loss)
    sound = all(math.isfinite(c.loss) for c in comparison.controls)
    if found and broken and sound:
        words = f"{found} At sound weights its loss is not finite, that of its neighbours is."
        return Seen(True, words, _step(case), "replay")
    if found or case.judgement.outcome is not Outcome.NON_FINITE:
        return NO_ANSWER
    return Seen(False, "The suspect batch has labels that count.", source="replay")


def labels_shifted(case: Case) -> Seen:
    """Moved along the sequence, the labels fit better than where the run put them."""
    shifts = case.replay.shifts if case.replay is not None else None
    if shifts is None or len(shifts.losses) < 2:
        return NO_ANSWER
    here, best = shifts.losses[0], shifts.losses[shifts.best]
    if shifts.best != 0 and best < 0.8 * here:
        words = (
            f"Moved by {shifts.best:+d} along the sequence the labels cost {number(best)}; where "
            f"the run put them they cost {number(here)}."
        )
        return Seen(True, words, source="replay")
    if shifts.best == 0 and here < 0.8 * shifts.permuted:
        words = (
            f"The labels fit best where the run put them ({number(here)}; in random order "
            f"{number(shifts.permuted)})."
        )
        return Seen(False, words, source="replay")
    return NO_ANSWER


def labels_carry_nothing(case: Case) -> Seen:
    """After training, labels in random order cost no more than the run's own."""
    shifts = case.replay.shifts if case.replay is not None else None
    if shifts is None or case.replay is None or not case.replay.checkpoint:
        return NO_ANSWER
    here, mixed = shifts.losses[0], shifts.permuted
    return Seen(
        mixed <= 1.02 * here,
        f"At {case.replay.checkpoint} labels in random order cost {number(mixed)}, the run's own "
        f"{number(here)}.",
        source="replay",
    )


def _goes_with_the_batch(case: Case) -> bool | None:
    """True: the failure comes with the suspect batch and not without it."""
    if reproduces(case) is False:
        return False
    if not tried(case, Variant.SKIP_BATCH):
        return None
    return removing(case, Variant.SKIP_BATCH) is not None and stands_out(case) is not False


def _not_the_batch(case: Case, skipped: bool | None) -> Seen:
    if skipped is None:
        return NO_REPLAY if replayed(case) is None else NO_ANSWER
    if reproduces(case) is False:
        return Seen(False, "Trained on the same batches again, it does not fail.", source="replay")
    return Seen(
        False, f"It fails just as well without the batch of {_where(case)}.", source="replay"
    )


def _without(case: Case) -> str:
    change = removing(case, Variant.SKIP_BATCH)
    what = told(change) if change is not None else "the batch"
    return f"With the batch of {_where(case)} left out ({what}) the failure does not come."


def _oddity(case: Case, oddity: Oddity) -> str:
    """The sentence on one oddity of the suspect batches, '' where there is none."""
    return next((f.text for f in oddities(case) or () if f.oddity is oddity), "")


def _where(case: Case) -> str:
    step = suspect_step(case)
    return at_step(step) if step is not None else "the suspect step"


def _step(case: Case) -> tuple[int, ...]:
    step = suspect_step(case)
    return () if step is None else (step,)
