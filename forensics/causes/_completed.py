"""What checkpoints, batches and lines of text tell of settings that no configuration names."""

import re
from dataclasses import replace
from typing import Any

from forensics.case import Case
from forensics.checkpoint_facts import CheckpointSurvey, StateFacts
from forensics.run import TextKind

_RUNNING = re.compile(r"(?:running|moving)_(?:mean|var|variance)$")
TRAINERS_OWN = "train_runtime"
"""A quantity that the Trainer of transformers logs as it ends, and no other loop does."""


def completed(case: Case) -> Case:
    """The same case with such settings filled in; what the configuration says stays.

    To be asked wherever evidence is added to a case, so that every later stage sees one set of
    settings; of a case that is complete it gives the same one back.
    """
    told = {
        **_from_checkpoints(case.survey),
        **_from_batches(case),
        **_from_text(case),
        **_defaults(case),
    }
    missing = {
        name: value
        for name, (value, _) in told.items()
        if value is not None and getattr(case.config, name) is None
    }
    if not missing:
        return case
    sources = dict(case.config.sources) | {name: told[name][1] for name in missing}
    config = replace(case.config, **missing, sources=sources)
    return replace(case, run=replace(case.run, config=config))


def _from_checkpoints(survey: CheckpointSurvey | None) -> dict[str, tuple[Any, str]]:
    """Field of `Config` -> its value and the checkpoint that holds it."""
    if survey is None or not survey.checkpoints:
        return {}
    last = survey.checkpoints[-1]
    state = last.state
    names = [w.name for c in survey.checkpoints for w in c.weights]
    found = {
        "betas": state.betas[0] if state.betas else None,
        "eps": state.eps[0] if state.eps else None,
        # Groups without decay are biases and norms.
        "weight_decay": max(state.weight_decay) if state.weight_decay else None,
        "lr_peak": _peak(survey),
        "normalization": "batchnorm" if any(_RUNNING.search(n) for n in names) else None,
    }
    return {name: (value, last.checkpoint) for name, value in found.items()}


def _peak(survey: CheckpointSurvey) -> float | None:
    """The highest learning rate in any optimizer state."""

    def rates(state: StateFacts) -> tuple[float, ...]:
        return (*state.lr, *state.initial_lr)

    return max((rate for c in survey.checkpoints for rate in rates(c.state)), default=None)


def _defaults(case: Case) -> dict[str, tuple[Any, str]]:
    """What a framework does unless it is told otherwise."""
    summed_up = any(s.tag.rpartition("/")[2] == TRAINERS_OWN for s in case.run.series)
    if not summed_up and "transformers" not in (case.config.framework or "").lower():
        return {}
    return {"optimizer": ("adamw", "default of the Trainer")}


def _from_text(case: Case) -> dict[str, tuple[Any, str]]:
    said = case.text_of(TextKind.PRETRAINED)
    return {"pretrained": (True, said[0].source)} if said else {}


def _from_batches(case: Case) -> dict[str, tuple[Any, str]]:
    survey = case.batches
    if survey is None or len(survey.class_shares) < 2 or case.config.vocab_size:
        return {}
    return {"num_classes": (len(survey.class_shares), "batches")}
