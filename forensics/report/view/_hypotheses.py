"""The ranked hypotheses: a few in full, the others in a line each."""

from collections.abc import Sequence
from dataclasses import dataclass

from forensics.advice.unchecked import without_data
from forensics.findings import Evidence, Hypothesis, Status
from forensics.report import names
from forensics.report.view._folding import Folded, fold
from forensics.report.view._headline import Badge, status_badge, width
from forensics.report.wording import percent, plural, sentence, step_list, unit
from forensics.verdict import Verdict

IN_FULL = 3
FULL_FROM = 0.05
"""Probability from which a hypothesis after the first is shown in full."""


@dataclass(frozen=True)
class Clue:
    """One piece of evidence."""

    text: str
    level: int
    """1 to 4: how many bars of four."""
    strength: str
    """The level in a word."""
    source: str
    steps: str


@dataclass(frozen=True)
class Argument:
    """A hypothesis with everything that speaks for and against it."""

    rank: int
    title: str
    cause: str
    family: str
    probability: str
    fill: str
    status: Badge
    supporting: tuple[Clue, ...]
    opposing: tuple[Clue, ...]
    unchecked: Folded[str]
    verify: str
    verify_is_code: bool
    fix: tuple[str, ...]


@dataclass(frozen=True)
class Brief:
    """A hypothesis in one line."""

    rank: int
    title: str
    cause: str
    probability: str
    supporting: Clue | None
    """The strongest, None where there is none."""
    opposing: Clue | None


@dataclass(frozen=True)
class Hypotheses:
    """All of them, by rank."""

    in_full: tuple[Argument, ...]
    others: tuple[Brief, ...]
    ruled_out: Folded[Brief]
    unexplained: str
    skipped: Folded[str]


def hypotheses(verdict: Verdict) -> Hypotheses:
    """Word the hypotheses of a verdict."""
    standing = [h for h in verdict.hypotheses if h.status is not Status.RULED_OUT]
    out = [h for h in verdict.hypotheses if h.status is Status.RULED_OUT and _worth(verdict, h)]
    # The diagnosis is shown in full even where nothing is probable.
    if not standing:
        standing, out = out[:1], out[1:]
    full = [h for n, h in enumerate(standing[:IN_FULL]) if n == 0 or h.probability >= FULL_FROM]
    return Hypotheses(
        tuple(_argument(h) for h in full),
        tuple(_brief(h) for h in standing[len(full) :]),
        fold(out, _brief, "cause", shown=0),
        percent(verdict.unexplained),
        fold(without_data(verdict.case.skipped), sentence, "check", shown=8, limit=200),
    )


def _worth(verdict: Verdict, hypothesis: Hypothesis) -> bool:
    """That a run which failed has no failure needs no line of its own."""
    failed = verdict.case.judgement.outcome.is_failure
    return not (failed and hypothesis.cause == "no_failure")


def _argument(hypothesis: Hypothesis) -> Argument:
    evidence = sorted(hypothesis.evidence, key=lambda e: -abs(e.weight))
    return Argument(
        rank=hypothesis.rank,
        title=hypothesis.title,
        cause=hypothesis.cause,
        family=hypothesis.family,
        probability=percent(hypothesis.probability),
        fill=width(hypothesis.probability),
        status=status_badge(hypothesis),
        supporting=tuple(_clue(e) for e in evidence if e.supports),
        opposing=tuple(_clue(e) for e in evidence if not e.supports),
        unchecked=fold(hypothesis.missing, sentence, "check", shown=6, limit=100),
        verify=hypothesis.verify,
        verify_is_code="\n" in hypothesis.verify.strip(),
        fix=tuple(sentence(text) for text in hypothesis.fix),
    )


def _clue(evidence: Evidence) -> Clue:
    level, strength = names.strength(evidence.weight)
    steps = step_list(evidence.steps)
    noun = plural(len(evidence.steps), unit()).rpartition(" ")[2]
    return Clue(
        sentence(evidence.text),
        level,
        strength,
        evidence.source,
        f"{noun} {steps}" if steps else "",
    )


def _brief(hypothesis: Hypothesis) -> Brief:
    return Brief(
        rank=hypothesis.rank,
        title=hypothesis.title,
        cause=hypothesis.cause,
        probability=percent(hypothesis.probability),
        supporting=_strongest([e for e in hypothesis.evidence if e.supports]),
        opposing=_strongest([e for e in hypothesis.evidence if not e.supports]),
    )


def _strongest(evidence: Sequence[Evidence]) -> Clue | None:
    return _clue(max(evidence, key=lambda e: abs(e.weight))) if evidence else None
