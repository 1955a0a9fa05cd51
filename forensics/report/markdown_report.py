"""The diagnosis for an issue tracker: GitHub-flavoured Markdown under 65,536 characters."""

from typing import TypeVar

from forensics.report.github_markdown import (
    block,
    bullets,
    code,
    folded,
    prose,
    section,
    table,
    text,
)
from forensics.report.markdown_replay import replay_section
from forensics.report.view import Argument, Badge, Clue, Fact, Folded, Page, build_page
from forensics.verdict import Verdict

T = TypeVar("T")

LIMIT = 65_000
"""GitHub takes 65,536 characters; the rest is left for what a person adds."""
_CUT = (
    "\n\n*The rest is cut: an issue takes no more. The HTML and the JSON report hold all of it.*\n"
)


def render(verdict: Verdict) -> str:
    """The report as Markdown: verdict, numbers, hypotheses with evidence, what to do."""
    page = build_page(verdict)
    parts = [
        _head(page),
        _hypotheses(page),
        replay_section(page.replay),
        _actions(page),
        _restart(page),
        _episodes(page),
        _batches(page),
        _folder(page),
        f"<sub>Made by run-forensics {text(page.version)}.</sub>",
    ]
    whole = "\n\n".join(part for part in parts if part) + "\n"
    return whole if len(whole) <= LIMIT else _cut(whole)


def _cut(whole: str) -> str:
    """End at a line: half a line could leave code or a table row open."""
    kept = whole[: LIMIT - len(_CUT) - 20].rpartition("\n")[0]
    missing = kept.count("<details>") - kept.count("</details>")
    return kept + "\n\n</details>" * missing + _CUT


def _badge(badge: Badge) -> str:
    return f"**{text(badge.text)}**"


def _head(page: Page) -> str:
    head = page.head
    rows = [["Outcome", f"{_badge(head.outcome)} – {text(head.meaning)}"]]
    if head.diagnosis is not None:
        first = head.diagnosis
        words = f"**{text(first.title)}** ({code(first.cause)}), {text(first.probability)}"
        rows.append(["Diagnosis", f"{words}, {text(first.status.text)}"])
    rows += [[text(fact.label), _fact(fact)] for fact in head.facts]
    return f"## {text(head.sentence, 2000)}\n\n{text(head.reason)}\n\n{table(['', ''], rows)}"


def _fact(fact: Fact) -> str:
    value = code(fact.value) if fact.code else text(fact.value)
    return f"{value} ({text(fact.note)})" if fact.note else value


def _hypotheses(page: Page) -> str:
    parts = [_argument(it) for it in page.hypotheses.in_full]
    rest = [*page.hypotheses.others, *page.hypotheses.ruled_out.folded[:40]]
    rows = [
        [
            text(it.title),
            text(it.probability),
            _clue(it.opposing) if it.opposing is not None else "",
        ]
        for it in rest
    ]
    if rows:
        body = table(["Cause", "Probability", "Strongest against"], rows)
        parts.append(folded("Less likely and ruled out", body))
    skipped = page.hypotheses.skipped.shown + page.hypotheses.skipped.folded
    if skipped:
        parts.append("Checks that could not run:\n\n" + bullets(skipped, 10))
    return section("Hypotheses", *parts)


def _argument(it: Argument) -> str:
    lines = [
        f"**{it.rank}. {text(it.title)}** – {text(it.probability)}, {text(it.status.text)}",
        "",
    ]
    lines += [f"- for: {_clue(clue)}" for clue in it.supporting[:12]]
    lines += [f"- against: {_clue(clue)}" for clue in it.opposing[:12]]
    lines += [f"- not checked: {text(item)}" for item in it.unchecked.shown]
    if it.verify_is_code:
        lines += ["", "How to settle it:", "", block(it.verify)]
    elif it.verify:
        lines += ["", f"How to settle it: {prose(it.verify)}"]
    if it.fix:
        lines += ["", f"If it is this: {' '.join(prose(step) for step in it.fix[:8])}"]
    return "\n".join(lines)


def _clue(clue: Clue) -> str:
    steps = f", {clue.steps}" if clue.steps else ""
    return f"{prose(clue.text)} *({clue.strength}, {text(clue.source, 60)}{text(steps)})*"


def _actions(page: Page) -> str:
    todo = page.actions
    resume = f"**{text(todo.resume_title)}** {code(todo.resume)}".strip()
    changes = table(
        ["Setting", "This run", "Next run"],
        [
            [code(row.setting), text(row.before), f"**{text(row.after)}**"]
            for row in todo.changes[:40]
        ],
    )
    return section(
        "What to do now",
        f"{resume}. {text(todo.reason)}",
        f"**{text(todo.optimizer_title)}.** {text(todo.optimizer)}" if todo.optimizer else "",
        changes if todo.changes else "",
        f"Skip the batches of {todo.skip_unit} {text(todo.skip)}." if todo.skip else "",
    )


def _restart(page: Page) -> str:
    alarms = table(
        ["Monitor", "Rule", "Would have stopped this run"],
        [[text(a.scale), prose(a.rule), text(a.stops)] for a in page.alarms[:20]],
    )
    checks = table(
        ["", "Check", "This run"],
        [[c.mark, f"{text(c.name)}: {prose(c.advice)}", text(c.found)] for c in page.checks[:30]],
    )
    return section(
        "Before you restart",
        bullets(page.pilot, 12),
        alarms if page.alarms else "",
        folded("Stability checklist", checks) if page.checks else "",
    )


def _episodes(page: Page) -> str:
    rows = [
        [
            text(e.severity),
            text(f"{e.kind}, {e.quantity}"),
            e.onset,
            text(e.peak),
            text(e.recovery),
            text(e.details),
        ]
        for e in page.episodes.shown
    ]
    head = ["Severity", "What", "Onset", "Peak", "Recovery", "Numbers"]
    return section("What happened", _more(table(head, rows), page.episodes) if rows else "")


def _batches(page: Page) -> str:
    if page.batches is None:
        return ""
    rows = [
        [r.step, code(r.tensor), prose(r.text), text(r.share), r.here, r.usual]
        for r in page.batches.rows.shown
    ]
    head = ["Step", "Tensor", "Finding", "Share", "This batch", "Controls"]
    return section(
        "Batches",
        text(page.batches.summary),
        table(head, rows) if rows else "",
        bullets(page.batches.unchecked.shown, 6),
    )


def _more(rows: str, items: Folded[T]) -> str:
    """A table, and how many of its kind are left out of it."""
    if not items.folded and not items.omitted:
        return rows
    count = f"The first {len(items.shown):,} of {text(items.total)}"
    return f"{rows}\n\n{count}; the HTML and the JSON report list the others."


def _folder(page: Page) -> str:
    """Checkpoints, other runs and warnings, folded away."""
    checkpoints = table(
        ["Checkpoint", "Step", "State", "Why"],
        [[code(c.path), c.step, text(c.state), text(c.reason)] for c in page.checkpoints.shown],
    )
    others = table(
        ["Run", "Outcome", "Cause"],
        [[code(r.name), text(r.outcome.text), text(r.cause)] for r in page.other_runs.shown],
    )
    found = page.warnings.shown + page.warnings.folded
    parts = [
        folded("Checkpoints", _more(checkpoints, page.checkpoints))
        if page.checkpoints.shown
        else "",
        folded("Other runs", _more(others, page.other_runs)) if page.other_runs.shown else "",
        folded(page.warnings.total, bullets(found, 15)) if found else "",
    ]
    return "\n\n".join(part for part in parts if part)
