"""What was found in the folder: checkpoints, other runs, files, settings, warnings."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from forensics.case import Case
from forensics.report import names
from forensics.report.names import Tone
from forensics.report.view._folding import Folded, fold
from forensics.report.view._headline import Badge
from forensics.report.wording import file_size, plural, sentence, setting, words
from forensics.run import Config, FileRecord
from forensics.verdict import CheckpointVerdict, OtherRun, Verdict


@dataclass(frozen=True)
class CheckpointRow:
    """One checkpoint."""

    path: str
    step: str
    state: str
    tone: Tone
    reason: str
    bad: str
    """The first tensors that are not finite."""
    size: str
    mark: str
    """``last healthy`` or ``first bad``, where it is that one."""


@dataclass(frozen=True)
class OtherRow:
    """One other run of the folder."""

    name: str
    outcome: Badge
    cause: str


@dataclass(frozen=True)
class FileRow:
    """One file and what was read from it."""

    path: str
    size: str
    format: str
    summary: str


@dataclass(frozen=True)
class Inventory:
    """Every file of the folder: those that were read, then the others."""

    count: str
    read: Folded[FileRow]
    unread: Folded[FileRow]


@dataclass(frozen=True)
class SettingRow:
    """One setting as read."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Configuration:
    """Canonical settings, those the run does not say, and everything as written."""

    known: tuple[SettingRow, ...]
    unknown: tuple[str, ...]
    raw: Folded[SettingRow]


def checkpoints(verdict: Verdict) -> Folded[CheckpointRow]:
    """The checkpoints, in step order; of very many, those that matter first."""
    sizes = {found.path: found.size for found in verdict.case.run.checkpoints}
    return fold(
        verdict.checkpoints,
        lambda c: _checkpoint(verdict, c, sizes.get(c.path)),
        "checkpoint",
        shown=12,
        limit=1000,
    )


def _checkpoint(verdict: Verdict, item: CheckpointVerdict, size: int | None) -> CheckpointRow:
    state, tone = names.checkpoint(item.state)
    bad = item.non_finite_tensors
    more = f" and {len(bad) - 3:,} more" if len(bad) > 3 else ""
    return CheckpointRow(
        path=item.path,
        step="unknown" if item.step is None else f"{item.step:,}",
        state=state,
        tone=tone,
        reason=sentence(item.reason),
        bad=", ".join(bad[:3]) + more,
        size="" if size is None else file_size(size),
        mark=_place(verdict, item),
    )


def _place(verdict: Verdict, item: CheckpointVerdict) -> str:
    if verdict.last_healthy is not None and item.path == verdict.last_healthy.path:
        return "last healthy"
    bad = verdict.first_bad
    return "first bad" if bad is not None and item.path == bad.path else ""


def damage(verdict: Verdict) -> str:
    """The first bad checkpoint in one sentence: only weights, only moments, one tensor, all."""
    first = verdict.first_bad
    if first is None:
        return ""
    here = [t for t in verdict.case.tensors or () if t.checkpoint == first.path]
    parts = []
    for kind, roles in (("weights", ("param", "master")), ("moments", ("exp_avg", "exp_avg_sq"))):
        held = [t for t in here if t.role in roles]
        bad = sum(t.is_poisoned for t in held)
        parts += [f"{bad:,} of {len(held):,} tensors of {kind}"] if held else []
    return f"In {first.path} not finite: {', '.join(parts)}." if parts else ""


def other_runs(verdict: Verdict) -> Folded[OtherRow]:
    """The runs that were not diagnosed."""
    return fold(verdict.other_runs, _other, "run", shown=12, limit=500)


def _other(run: OtherRun) -> OtherRow:
    label, tone, _ = names.outcome(run.outcome)
    return OtherRow(run.path, Badge(label, tone), words(run.cause))


def inventory(case: Case) -> Inventory:
    """Every file, with what was read from it or why nothing was."""
    read = [record for record in case.run.files if record.format]
    unread = [record for record in case.run.files if not record.format]
    total = plural(len(case.run.files), "file")
    return Inventory(
        f"{total}, {len(read):,} read",
        fold(read, _file, "file", shown=15, limit=3000),
        fold(unread, _file, "file", shown=0, limit=3000),
    )


def _file(record: FileRecord) -> FileRow:
    return FileRow(record.path, file_size(record.size), record.format, record.summary)


def configuration(config: Config) -> Configuration:
    """The settings of the run, those it does not say by name."""
    given = [f.name for f in fields(Config) if f.name not in ("sources", "raw")]
    known = [name for name in given if getattr(config, name) is not None]
    rows = [SettingRow(n, setting(getattr(config, n)), config.sources.get(n, "")) for n in known]
    if config.effective_batch is not None and config.global_batch is None:
        rows.append(SettingRow("effective_batch", setting(config.effective_batch), "computed"))
    return Configuration(
        tuple(rows),
        tuple(name for name in given if getattr(config, name) is None),
        fold(sorted(config.raw.items()), _raw, "setting", shown=0, limit=1500),
    )


def _raw(item: tuple[str, object]) -> SettingRow:
    return SettingRow(item[0], setting(item[1]), "")


def warnings(texts: Iterable[str]) -> Folded[str]:
    """The warnings, each once."""
    return fold(list(dict.fromkeys(texts)), str, "warning", shown=10, limit=1000)
