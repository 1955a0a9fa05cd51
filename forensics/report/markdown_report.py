"""The diagnosis for an issue tracker: GitHub-flavoured Markdown under 65,536 characters."""

import re
from collections.abc import Iterable, Sequence

from forensics.report.view import Argument, Badge, Clue, Fact, Page, build_page
from forensics.report.wording import clean, one_line
from forensics.verdict import Verdict

LIMIT = 65_000
"""GitHub takes 65,536 characters; the rest is left for what a person adds."""
_SPECIAL = re.compile(r"[\\`*\[\]<>&|~#$!]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_MENTION = re.compile(r"@(?=[A-Za-z0-9\[])")
_BULLET = re.compile(r"^(?=[-+]|\d+[.)] )")
_CUT = (
    "\n\n*The rest is cut: an issue takes no more. The HTML and the JSON report hold all of it.*\n"
)


def render(verdict: Verdict) -> str:
    """The report as Markdown: verdict, numbers, hypotheses with evidence, what to do."""
    page = build_page(verdict)
    parts = [
        _head(page),
        _hypotheses(page),
        _actions(page),
        _restart(page),
        _episodes(page),
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


def text(value: str, limit: int = 600) -> str:
    """Text in which nothing is markup: one line, no HTML, no mention, no issue reference."""
    safe = _SPECIAL.sub(lambda mark: "\\" + mark.group(), one_line(value, limit))
    # A word joiner after @ keeps people from being called to an issue about their run.
    safe = _MENTION.sub("@\u2060", safe.replace("\\<", "&lt;").replace("\\>", "&gt;"))
    safe = safe.replace("\\&", "&amp;")
    return _BULLET.sub("\\\\", safe)


def code(value: str, limit: int = 300) -> str:
    """A literal as a code span, safe inside a table."""
    flat = one_line(value, limit)
    if not flat:
        return ""
    fence = "`" * (max(map(len, re.findall("`+", flat)), default=0) + 1)
    space = " " if flat[0] == "`" or flat[-1] == "`" else ""
    return f"{fence}{space}{flat}{space}{fence}".replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _section(title: str, *parts: str) -> str:
    kept = [part for part in parts if part]
    return "\n\n".join([f"### {title}", *kept]) if kept else ""


def _list(items: Sequence[str], shown: int) -> str:
    lines = [f"- {text(item)}" for item in items[:shown]]
    more = len(items) - shown
    return "\n".join([*lines, f"- … and {more:,} more"] if more > 0 else lines)


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
        parts.append(_folded("Less likely and ruled out", body))
    skipped = page.hypotheses.skipped.shown + page.hypotheses.skipped.folded
    if skipped:
        parts.append("Checks that could not run:\n\n" + _list(skipped, 10))
    return _section("Hypotheses", *parts)


def _argument(it: Argument) -> str:
    lines = [
        f"**{it.rank}. {text(it.title)}** – {text(it.probability)}, {text(it.status.text)}",
        "",
    ]
    lines += [f"- for: {_clue(clue)}" for clue in it.supporting[:12]]
    lines += [f"- against: {_clue(clue)}" for clue in it.opposing[:12]]
    lines += [f"- not checked: {text(item)}" for item in it.unchecked.shown]
    if it.verify_is_code:
        lines += ["", "How to settle it:", "", _block(it.verify)]
    elif it.verify:
        lines += ["", f"How to settle it: {_prose(it.verify)}"]
    if it.fix:
        lines += ["", f"If it is this: {' '.join(_prose(step) for step in it.fix[:8])}"]
    return "\n".join(lines)


def _prose(value: str) -> str:
    """A sentence in which pairs of backticks mark code."""
    pieces = value.split("`")
    if len(pieces) % 2 == 0 or len(pieces) > 41:
        return text(value)
    spans = [code(p) if n % 2 else _padded(p) for n, p in enumerate(pieces)]
    return "".join(spans)


def _padded(piece: str) -> str:
    """Text between two code spans keeps the blanks at its ends."""
    left = " " if piece[:1].isspace() else ""
    right = " " if piece[-1:].isspace() and piece.strip() else ""
    return f"{left}{text(piece)}{right}"


def _block(value: str) -> str:
    """Lines of code in a fence longer than any in them."""
    body = "\n".join(clean(line)[:300] for line in value.splitlines()[:40])
    fence = "`" * max(3, max(map(len, re.findall("`+", body)), default=0) + 1)
    return f"{fence}\n{body}\n{fence}"


def _clue(clue: Clue) -> str:
    steps = f", {clue.steps}" if clue.steps else ""
    return f"{_prose(clue.text)} *({clue.strength}, {text(clue.source, 60)}{text(steps)})*"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{text(title)}</summary>\n\n{body}\n\n</details>"


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
    return _section(
        "What to do now",
        f"{resume}. {text(todo.reason)}",
        f"**{text(todo.optimizer_title)}.** {text(todo.optimizer)}" if todo.optimizer else "",
        changes if todo.changes else "",
        f"Skip the batches of steps {text(todo.skip)}." if todo.skip else "",
    )


def _restart(page: Page) -> str:
    alarms = table(
        ["Monitor", "Rule", "Would have stopped this run"],
        [[text(a.scale), _prose(a.rule), text(a.stops)] for a in page.alarms[:20]],
    )
    checks = table(
        ["", "Check", "This run"],
        [[c.mark, f"{text(c.name)}: {_prose(c.advice)}", text(c.found)] for c in page.checks[:30]],
    )
    return _section(
        "Before you restart",
        _list(page.pilot, 12),
        alarms if page.alarms else "",
        _folded("Stability checklist", checks) if page.checks else "",
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
    return _section("What happened", table(head, rows) if rows else "")


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
        _folded("Checkpoints", checkpoints) if page.checkpoints.shown else "",
        _folded("Other runs", others) if page.other_runs.shown else "",
        _folded(page.warnings.total, _list(found, 15)) if found else "",
    ]
    return "\n\n".join(part for part in parts if part)
