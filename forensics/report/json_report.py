"""The diagnosis as CONTRACT's JSON object: strict, with plain Python values only."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np

from forensics.findings import Change, Episode, Evidence, Hypothesis
from forensics.replay_reading import read_replay
from forensics.report.provenance import SCHEMA_VERSION, version
from forensics.report.view import formats, points
from forensics.verdict import CheckpointVerdict, OtherRun, Verdict


def to_json(verdict: Verdict) -> str:
    """The diagnosis as JSON text, ASCII only, so that any terminal and any pipe takes it."""
    return json.dumps(to_dict(verdict), indent=2, allow_nan=False) + "\n"


def to_dict(verdict: Verdict) -> dict[str, Any]:
    """The diagnosis as plain dictionaries, lists, strings and numbers, ready for `json.dumps`."""
    judgement, advice = verdict.case.judgement, verdict.recommendation
    diagnosis = {
        "schema_version": SCHEMA_VERSION,
        "forensics_version": version(),
        "run": _run(verdict),
        "outcome": judgement.outcome,
        "symptom": judgement.symptom,
        "onset_step": judgement.onset_step,
        "after_step": judgement.after_step,
        "first_mover": judgement.first_mover,
        "sentence": verdict.sentence,
        "reason": judgement.reason,
        "episodes": [_episode(episode) for episode in verdict.case.episodes],
        "checkpoints": [_checkpoint(checkpoint) for checkpoint in verdict.checkpoints],
        "last_healthy_checkpoint": _reference(verdict.last_healthy),
        "first_bad_checkpoint": _reference(verdict.first_bad),
        "batches": verdict.case.batches,
        "hypotheses": [_hypothesis(hypothesis) for hypothesis in verdict.hypotheses],
        "unexplained": verdict.unexplained,
        "replay": _replay(verdict),
        "recommendation": {
            "resume_from": advice.resume_from,
            "resume_step": advice.resume_step,
            "reason": advice.resume_reason,
            "keep_optimizer": advice.keep_optimizer,
            "optimizer_reason": advice.optimizer_reason,
            "skip_steps": advice.skip_steps,
            "changes": [_change(change) for change in advice.changes],
        },
        "checklist": verdict.checklist,
        "pilot": verdict.pilot,
        "monitors": verdict.monitors,
        "cost": verdict.cost,
        "other_runs": [_other(run) for run in verdict.other_runs],
        "skipped_checks": verdict.case.skipped,
        "warnings": verdict.warnings,
    }
    return {key: plain(value) for key, value in diagnosis.items()}


def plain(value: Any) -> Any:
    """Turn any value into what strict JSON knows.

    A non-finite number becomes ``NaN``, ``Infinity`` or ``-Infinity`` as a string, numpy values
    become Python ones, and half a surrogate pair (a file name that is not UTF-8) is spelled out.
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else _spelled(value)
    if isinstance(value, str | PurePath):
        return str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    return _container(value)


def _container(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    return plain(str(value))


def _spelled(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _run(verdict: Verdict) -> dict[str, Any]:
    case = verdict.case
    return {
        "path": str(case.run.path),
        "name": case.run.name,
        "formats": formats(case),
        "first_step": case.timeline.first_step,
        "last_step": case.timeline.last_step,
        "points": points(case),
    }


def _episode(episode: Episode) -> dict[str, Any]:
    return {
        "kind": episode.kind,
        "quantity": episode.signal,
        "onset_step": episode.onset_step,
        "peak_step": episode.peak_step,
        "peak_value": episode.peak_value,
        "recovery_step": episode.recovery_step,
        "severity": episode.severity,
        "ending": episode.ending,
        "after_step": episode.after_step,
        "baseline": episode.baseline,
        "height": episode.height,
        "first_mover": episode.first_mover,
        "first_mover_step": episode.first_mover_step,
        "details": episode.details,
    }


def _checkpoint(checkpoint: CheckpointVerdict) -> dict[str, Any]:
    return {
        "path": checkpoint.path,
        "step": checkpoint.step,
        "scanned": checkpoint.scanned,
        "finite": checkpoint.finite,
        "non_finite_tensors": checkpoint.non_finite_tensors,
        "verdict": checkpoint.state,
        "reason": checkpoint.reason,
    }


def _reference(checkpoint: CheckpointVerdict | None) -> dict[str, Any] | None:
    return None if checkpoint is None else {"path": checkpoint.path, "step": checkpoint.step}


def _hypothesis(hypothesis: Hypothesis) -> dict[str, Any]:
    return {
        "rank": hypothesis.rank,
        "cause": hypothesis.cause,
        "title": hypothesis.title,
        "family": hypothesis.family,
        "probability": hypothesis.probability,
        "status": hypothesis.status,
        "evidence": [_evidence(evidence) for evidence in hypothesis.evidence],
        "missing": hypothesis.missing,
        "verify": hypothesis.verify,
        "fix": hypothesis.fix,
        "changes": [_change(change) for change in hypothesis.changes],
        "skip_steps": hypothesis.skip_steps,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "text": evidence.text,
        "supports": evidence.supports,
        "weight": evidence.weight,
        "source": evidence.source,
        "clue": evidence.clue,
        "steps": evidence.steps,
    }


def _replay(verdict: Verdict) -> dict[str, Any] | None:
    """Everything the replay told, field by field, and what follows from it."""
    facts = verdict.case.replay
    if facts is None:
        return None
    reading = read_replay(facts)
    told = {field.name: getattr(facts, field.name) for field in fields(facts)}
    return told | {
        "conclusion": {
            "repeat": reading.repeat,
            "removed_by": [c.variant for c in reading.removed_by],
            "not_removed_by": [c.variant for c in reading.kept_by],
            "undecided": [c.variant for c in reading.undecided],
            "blame": reading.blame,
            "needs_precision": reading.needs_precision,
            "unusual": sorted(reading.odd),
        }
    }


def _change(change: Change) -> dict[str, Any]:
    return {"setting": change.setting, "from": change.before, "to": change.after}


def _other(run: OtherRun) -> dict[str, Any]:
    return {"path": run.path, "outcome": run.outcome, "cause": run.cause}
