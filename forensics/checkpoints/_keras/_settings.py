"""The optimizer's settings, from the configuration that Keras saves beside the weights."""

import json
from collections.abc import Mapping
from typing import Any

_RENAMED = {
    "learning_rate": "lr",
    "epsilon": "eps",
    "weight_decay": "weight_decay",
    "amsgrad": "amsgrad",
    "momentum": "momentum",
    "nesterov": "nesterov",
    "rho": "rho",
    "clipnorm": "clipnorm",
    "global_clipnorm": "global_clipnorm",
    "clipvalue": "clipvalue",
    "name": "name",
}
"""Keras' name -> torch's."""


def optimizer_settings(text: str) -> dict[str, Any]:
    """Settings by torch's names, from a configuration in JSON; {} where it has none.

    Args:
        text: ``config.json`` of a ``.keras`` file, or the ``training_config`` of an ``.h5``.
    """
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    compiled = config.get("compile_config", config) if isinstance(config, dict) else {}
    settings: Any = compiled
    for key in ("optimizer", "optimizer_config", "config"):
        inside = settings.get(key) if isinstance(settings, dict) else None
        settings = inside if isinstance(inside, dict) else settings
    return _renamed(settings) if isinstance(settings, dict) and settings is not compiled else {}


def _renamed(settings: Mapping[str, Any]) -> dict[str, Any]:
    plain = {new: settings[old] for old, new in _RENAMED.items() if _is_plain(settings.get(old))}
    betas = [settings.get(name) for name in ("beta_1", "beta_2")]
    return {**plain, "betas": betas} if all(isinstance(b, float) for b in betas) else plain


def _is_plain(value: Any) -> bool:
    return isinstance(value, (int, float, str, bool))
