"""The replay in a Markdown report, in short."""

from forensics.report.github_markdown import bullets, code, folded, prose, section, table, text
from forensics.report.view import Replay


def replay_section(told: Replay | None) -> str:
    """What was replayed, what it settles and which changes were tried; '' for no replay."""
    if told is None:
        return ""
    settles = table(["", ""], [[f"**{text(c.label)}**", prose(c.text)] for c in told.conclusions])
    return section(
        "Replay",
        f"{prose(told.lede)} {prose(told.alignment)}".strip(),
        settles if told.conclusions else "",
        bullets(told.failures.shown, 10),
        _tried(told),
        _operations(told),
        _measured(told),
        folded("What was left out, and why", bullets(told.left_out.shown, 12))
        if told.left_out.shown
        else "",
    )


def _tried(told: Replay) -> str:
    rows = [
        [text(r.setting), text(r.before), text(r.after), text(r.result), r.excess]
        for r in told.changes.shown
    ]
    head = ["Setting", "This run", "Changed to", "The failure", "Nats above the level"]
    return table(head, rows) if rows else ""


def _operations(told: Replay) -> str:
    lines = []
    for item in told.operations:
        place = f", called at {code(item.location)}" if item.location else ""
        lines.append(f"- {code(item.precision)}: {prose(item.sentence)}{place}")
    return "\n".join(lines)


def _measured(told: Replay) -> str:
    rows = [[text(r.name), text(r.found), text(r.meaning)] for r in told.checks.shown]
    beside = [
        [f"Suspect batch, {text(r.weights)}", _beside(r.loss, r.control_loss), text(r.verdict)]
        for r in told.comparisons.shown
    ]
    if not rows and not beside:
        return ""
    return folded("Measurements", table(["Measurement", "Found", "Which says"], beside + rows))


def _beside(own: str, usual: str) -> str:
    return f"loss {own}, control batches {usual}"
