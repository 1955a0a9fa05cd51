"""What the batches hold, as a table: step, tensor, finding, share, and the controls beside it."""

from collections.abc import Iterator
from dataclasses import dataclass

from forensics.batch_facts import BatchAudit, BatchFinding, BatchSurvey, Oddity
from forensics.case import Case
from forensics.report.view._folding import Folded, fold
from forensics.report.wording import number, percent, plural, step_list, unit, words

_NAMES = {
    Oddity.NON_FINITE_INPUT: "non-finite values",
    Oddity.INPUT_SCALE: "scale",
    Oddity.OVERLONG: "length",
    Oddity.REPEATED_NGRAM: "repeated tokens",
    Oddity.TOKEN_NOISE: "tokens like noise",
    Oddity.CLASS_COUNTS: "one class",
}
ALL = "all"


@dataclass(frozen=True)
class BatchRow:
    """One finding of one batch, or of all."""

    step: str
    """Or ``all``."""
    source: str
    mark: str
    """``suspect`` where it belongs to a suspect step."""
    tensor: str
    finding: str
    text: str
    share: str
    here: str
    """The number that gives it away, '' where there is none."""
    usual: str
    """The same in the controls."""


@dataclass(frozen=True)
class Batches:
    """The audit of the batches."""

    summary: str
    rows: Folded[BatchRow]
    unchecked: Folded[str]


def batches(case: Case) -> Batches | None:
    """The audit in words; None where no batch was looked at."""
    found = case.batches
    if found is None:
        return None
    rows = [*_of_suspects(found), *_everywhere(found), *_of_controls(found)]
    return Batches(
        _summary(found),
        fold(rows, _same, "finding", shown=12, limit=500),
        fold(found.unchecked, str, "check that was not possible", shown=6, limit=50),
    )


def _same(row: BatchRow) -> BatchRow:
    return row


def _summary(found: BatchSurvey) -> str:
    if not found.audits:
        return "No captured batch could be looked at."
    suspects = [a.step for a in found.suspects]
    looked = f"{plural(len(found.audits), 'batch')} looked at"
    of_suspects = f", {len(suspects):,} of suspect {unit()}s ({step_list(suspects)})"
    looked += of_suspects if suspects else ", none of a suspect step"
    odd = [a.step for a in found.audits if a.findings]
    return f"{looked}: {_verdict(odd)}."


def _verdict(odd: list[int]) -> str:
    if not odd:
        return "nothing is odd in a single one"
    which = f"are those of {unit()}s" if len(odd) > 1 else f"is that of {unit()}"
    return f"odd {which} {step_list(odd)}"


def _of_suspects(found: BatchSurvey) -> Iterator[BatchRow]:
    for audit in found.suspects:
        yield from (_row(f, audit) for f in audit.findings)


def _of_controls(found: BatchSurvey) -> Iterator[BatchRow]:
    for audit in found.audits:
        if not audit.suspect:
            yield from (_row(f, audit) for f in audit.findings)


def _everywhere(found: BatchSurvey) -> Iterator[BatchRow]:
    yield from (_row(finding, None) for finding in found.everywhere)


def _row(finding: BatchFinding, audit: BatchAudit | None) -> BatchRow:
    name = _NAMES.get(finding.oddity, words(finding.oddity.value))
    return BatchRow(
        step=ALL if audit is None else f"{audit.step:,}",
        source="" if audit is None else audit.source,
        mark="suspect" if audit is not None and audit.suspect else "",
        tensor=finding.tensor,
        finding=name,
        text=finding.text,
        share=percent(finding.share),
        here="" if finding.value is None else number(finding.value, 3),
        usual="" if finding.usual is None else number(finding.usual, 3),
    )
