"""Looks at what the batches themselves hold; a batch that was not there proves nothing."""

from collections.abc import Iterable

from forensics.batch_facts import BatchAudit, BatchFinding, BatchSurvey, Oddity
from forensics.case import Case
from forensics.causes import _facts as facts
from forensics.causes._base import NOT_APPLICABLE, Look, Seen
from forensics.findings import Outcome
from forensics.phrasing import count, listing, percent

SOURCE = "batches"
DAMAGE = (
    Oddity.INPUT_SCALE,
    Oddity.REPEATED_SAMPLE,
    Oddity.REPEATED_NGRAM,
    Oddity.TOKEN_NOISE,
    Oddity.CONSTANT_SAMPLE,
)
"""What sound samples do not show."""
UNUSUAL = (Oddity.CLASS_COUNTS, Oddity.EMPTY_SAMPLE)
"""What a sampler or a filter may bring about with sound samples."""
_NAMES = {
    Oddity.NON_FINITE_INPUT: "non-finite values",
    Oddity.INPUT_SCALE: "a scale of its own",
    Oddity.LABEL_OUT_OF_RANGE: "labels out of range",
    Oddity.LABELS_ALL_MASKED: "only masked labels",
    Oddity.TOKEN_OUT_OF_RANGE: "tokens beyond the vocabulary",
    Oddity.EMPTY_SAMPLE: "empty samples",
    Oddity.OVERLONG: "sequences longer than the others",
    Oddity.REPEATED_SAMPLE: "repeated samples",
    Oddity.REPEATED_NGRAM: "tokens repeated over and over",
    Oddity.TOKEN_NOISE: "tokens like noise",
    Oddity.CONSTANT_SAMPLE: "samples of one value",
    Oddity.CLASS_COUNTS: "one class alone",
    Oddity.LABELS_SHIFTED: "labels of another place",
    Oddity.LABELS_SORTED: "sorted labels",
}


def shows(*oddities: Oddity) -> Look:
    """A look that holds where a suspect batch shows one of these and its controls do not."""

    def look(case: Case) -> Seen:
        survey = case.batches
        if survey is None or not survey.audits:
            return NOT_APPLICABLE
        blamed = blamed_steps(case)
        suspects = [a for a in survey.audits if a.suspect or a.step in blamed]
        found = [(a, f) for a in suspects for f in a.findings if f.oddity in oddities]
        if found:
            return _present(found)
        what = " and no ".join(_NAMES[o] for o in oddities)
        return _absent(case, survey, oddities, f"no {what}")

    return look


def _present(found: list[tuple[BatchAudit, BatchFinding]]) -> Seen:
    audit, finding = max(found, key=lambda pair: (pair[1].share, -pair[0].step))
    steps = tuple(dict.fromkeys(a.step for a, _ in found))[:8]
    return Seen(True, f"{audit.source}: {finding.text}", steps, SOURCE)


def _absent(case: Case, survey: BatchSurvey, oddities: Iterable[Oddity], without: str) -> Seen:
    """Absent only where the batch of every step that may be to blame could be checked."""
    blamed = blamed_steps(case)
    if not blamed:
        return NOT_APPLICABLE
    able = {a.step for a in survey.audits if set(oddities) & set(a.checked)}
    unchecked = [step for step in blamed if step not in able]
    if unchecked:
        verb = "batches" if len(unchecked) > 1 else "batch"
        text = f"The {verb} of {listing(unchecked)} could not be checked for {_short(oddities)}."
        return Seen(None, text, tuple(unchecked[:8]), SOURCE)
    text = f"The captured {'batches' if len(blamed) > 1 else 'batch'} of {listing(blamed)} "
    return Seen(False, f"{text}{'show' if len(blamed) > 1 else 'shows'} {without}.", blamed, SOURCE)


def _short(oddities: Iterable[Oddity]) -> str:
    return next(_NAMES[o] for o in oddities)


def blamed_steps(case: Case) -> tuple[int, ...]:
    """Steps one of whose batches gave the failure, if a batch did: after the last good point."""
    onset, after = facts.break_onset(case), case.judgement.after_step
    if onset is None:
        return ()
    if case.judgement.outcome is Outcome.CRASHED:  # in a step that was never logged
        return tuple(range(onset + 1, onset + 1 + max(round(case.timeline.interval), 1)))
    first = onset if after is None else after + 1
    return tuple(range(first, onset + 1))


def is_sound(case: Case) -> Seen:
    """Nothing was found in the suspect batches, and they could be held against controls."""
    survey, blamed = case.batches, blamed_steps(case)
    if survey is None or not survey.audits or not blamed:
        return NOT_APPLICABLE
    odd = [(a, f) for a in survey.suspects for f in a.findings]
    if odd:
        shown = _present(odd)
        return Seen(False, shown.text, shown.steps, SOURCE)
    audits = {a.step: a for a in survey.audits if set(a.checked) & set(DAMAGE)}
    if not all(step in audits for step in blamed):
        text = f"Needs the batch of {listing(blamed)} and three others to hold it against."
        return Seen(None, text, blamed[:8], SOURCE)
    looks = sorted({_NAMES[o] for step in blamed for o in audits[step].checked})
    others = len(survey.audits) - len(blamed)
    text = (
        f"Nothing is odd in the captured batch of {listing(blamed)}, held against {others:,} "
        f"others in {count(len(looks), 'check')}."
    )
    return Seen(True, text, blamed[:8], SOURCE)


def in_all_batches(*oddities: Oddity) -> Look:
    """A look that holds where all batches show one of these alike."""

    def look(case: Case) -> Seen:
        survey = case.batches
        if survey is None or not survey.audits:
            return NOT_APPLICABLE
        for finding in survey.everywhere:
            if finding.oddity in oddities:
                return Seen(True, finding.text, (), SOURCE)
        checked = set(survey.checked).union(*(a.checked for a in survey.audits))
        if not checked & set(oddities):
            return NOT_APPLICABLE
        text = f"Not all captured batches ({len(survey.audits):,}) show {_short(oddities)}."
        return Seen(False, text, (), SOURCE)

    return look


def classes_unbalanced(case: Case, dominant: float = 0.8, enough: int = 100) -> Seen:
    """One class makes up most of the labels of the captured batches."""
    survey = case.batches
    if survey is None or not survey.class_shares or survey.labels_counted < enough:
        return NOT_APPLICABLE
    largest, classes = survey.class_shares[0], len(survey.class_shares)
    text = (
        f"Of {survey.labels_counted:,} labels in {len(survey.audits):,} captured batches "
        f"{percent(largest)} are of one class, of {classes:,} that occur."
    )
    return Seen(largest >= dominant, text, (), SOURCE)
