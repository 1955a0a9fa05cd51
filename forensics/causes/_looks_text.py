"""Looks at lines of text that prove something by themselves."""

from forensics.case import Case
from forensics.causes._base import Look, Seen
from forensics.run import TextEvidence, TextKind

LONGEST = 160
_OUTPUTS = ("training log", "Kaldi log")
"""Formats of what a process printed: read, even where no line of it proves anything."""
_NAMES = {
    TextKind.DEVICE_ASSERT: "a device-side assertion",
    TextKind.LABEL_OUT_OF_RANGE: "a label out of range",
    TextKind.INDEX_OUT_OF_RANGE: "an index out of range",
    TextKind.SEQUENCE_TOO_LONG: "a sequence longer than the model takes",
    TextKind.HARDWARE_ERROR: "a hardware error",
    TextKind.OUT_OF_MEMORY: "a lack of memory",
    TextKind.KILLED: "a kill signal",
    TextKind.TIME_LIMIT: "a time limit",
    TextKind.LOST_PEER: "a lost process of the group",
    TextKind.DISK_FULL: "a full disk",
    TextKind.INTERRUPTED: "an interruption by hand",
    TextKind.GRADIENTS_ABSENT: "weights that get no gradient",
    TextKind.OPTIMIZER_NOT_RESTORED: "an optimizer state that was not restored",
    TextKind.SCHEDULER_NOT_RESTORED: "a schedule that was not restored",
    TextKind.NON_FINITE_GUARD: "a step skipped for non-finite numbers",
}


def says(*kinds: TextKind) -> Look:
    """A look that holds where the text the process wrote has a line of one of these kinds."""

    def look(case: Case) -> Seen:
        found = case.text_of(*kinds)
        what = " or ".join(_NAMES.get(k, k.value.replace("_", " ")) for k in kinds)
        if found:
            return Seen(True, quote(found[0]), _steps(found), "text")
        if not (case.run.text or any(f.format in _OUTPUTS for f in case.run.files)):
            return Seen(None, f"Needs the output of the process: it would name {what}.", (), "text")
        return Seen(False, f"No line of the output names {what}.", (), "text")

    return look


def quote(line: TextEvidence) -> str:
    """One line as evidence, with its place."""
    text = line.text.strip()
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return f"{line.source}, line {line.line:,}: “{short}”."


def _steps(found: tuple[TextEvidence, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(t.step for t in found if t.step is not None))[:8]
