"""The model of a transformers checkpoint, from its config.json and transformers' own classes."""

import importlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.replay.errors import ReplayError

if TYPE_CHECKING:
    from torch import nn

MAX_BYTES = 16 << 20
_REMOTE = ("auto_map", "trust_remote_code")
"""Keys that name code which lies beside the weights or on a hub."""
_CHOOSES_CODE = ("attn_implementation", "experts_implementation", "use_kernels")
"""Parts of keys under which a name can make transformers fetch a kernel; the default is used."""


def read_config(checkpoint: Path) -> dict[str, Any]:
    """The model's configuration.

    Raises:
        ReplayError: There is none, or the model needs code that transformers does not hold.
    """
    path = checkpoint / "config.json"
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ReplayError(f"{path}: too large for a model's configuration")
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise ReplayError(
            f"{path}: could not be read ({error.strerror}); without it there is no model, name a "
            "replay file"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ReplayError(f"{path}: not valid JSON ({error})") from error
    if not isinstance(config, dict):
        raise ReplayError(f"{path}: holds no configuration of a model")
    remote = _key_of(config, _REMOTE)
    if remote:
        raise ReplayError(
            f"{path}: {remote} asks for code of its own, which is not run; name a replay file"
        )
    return config


def _key_of(config: Any, keys: tuple[str, ...]) -> str | None:
    """The first of ``keys`` that is set at any depth."""
    if isinstance(config, Mapping):
        here = next((key for key in keys if config.get(key)), None)
        return here or next((k for v in config.values() if (k := _key_of(v, keys))), None)
    if isinstance(config, list):
        return next((k for v in config if (k := _key_of(v, keys))), None)
    return None


def version_of(config: Mapping[str, Any]) -> tuple[int, ...]:
    """Version of the transformers that wrote a configuration; (0,) where it does not say."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", str(config.get("transformers_version")))
    return (int(found[1]), int(found[2])) if found else (0,)


def build_model(config: Mapping[str, Any], source: Path) -> "nn.Module":
    """A model with fresh weights.

    Raises:
        ReplayError: transformers is not installed, has no such class, or refuses the settings.
    """
    model_type = str(config.get("model_type"))
    names = config.get("architectures") or ()
    name = str(names[0]) if isinstance(names, list) and names else ""
    try:
        transformers: Any = importlib.import_module("transformers")
        auto: Any = importlib.import_module("transformers.models.auto.modeling_auto")
    except ImportError as error:
        raise ReplayError(
            f"{source}: building its model needs transformers (pip install transformers), or name "
            "a replay file"
        ) from error
    if not _is_own(auto, model_type, name):
        raise ReplayError(
            f"{source}: transformers {transformers.__version__} has no model {name or 'unnamed'!r} "
            f"of type {model_type!r}; name a replay file"
        )
    try:
        settings = transformers.CONFIG_MAPPING[model_type].from_dict(_plain(config))
        model: nn.Module = getattr(transformers, name)._from_config(settings)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())[:400]
        raise ReplayError(f"{source}: {name} could not be built from it ({said})") from error
    return model


def _is_own(auto: Any, model_type: str, name: str) -> bool:
    """True where one of transformers' own mappings leads from the type to the class."""
    mappings = [v for k, v in vars(auto).items() if k.endswith("_MAPPING_NAMES")]
    found = [m[model_type] for m in mappings if isinstance(m, Mapping) and model_type in m]
    return bool(name) and any(name == f or (isinstance(f, tuple) and name in f) for f in found)


def _plain(config: Any) -> Any:
    """The configuration without the keys that choose code."""
    if isinstance(config, Mapping):
        return {
            k: _plain(v) for k, v in config.items() if not any(word in k for word in _CHOOSES_CODE)
        }
    return [_plain(v) for v in config] if isinstance(config, list) else config
