"""Settings written as YAML.

What this reads, by example::

    optimizer: {lr: 1e-4}            # a string to YAML, a number to us
    model: !!python/object:argparse.Namespace {width: 512}

config.yaml, hparams.yaml of Lightning, ``.hydra/config.yaml``, args.yaml of timm and ultralytics,
W&B's config.yaml. Tags that would make Python objects give the plain values below them.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._settings import looks_like_settings

MAX_BYTES = 1 << 19
"""Parsing is slow, and no configuration is larger."""


class _PlainLoader(yaml.SafeLoader):
    """Safe loader that reads unknown tags as plain values; in Python, for it bounds its nesting."""


def _construct(loader: _PlainLoader, _: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else None


def _construct_named(_: _PlainLoader, name: str, __: yaml.Node) -> str:
    return name


_PlainLoader.add_multi_constructor("tag:yaml.org,2002:python/name:", _construct_named)
_PlainLoader.add_multi_constructor("tag:yaml.org,2002:python/module:", _construct_named)
_PlainLoader.add_multi_constructor("tag:", _construct)  # asked in this order
_PlainLoader.add_multi_constructor("!", _construct)


def sniff(probe: Probe) -> bool:
    """A YAML file whose keys are settings."""
    if probe.path.suffix.lower() not in (".yaml", ".yml") or probe.size > MAX_BYTES:
        return False
    return looks_like_settings(probe.path.stem, probe.head)


def read(probe: Probe, progress: Progress) -> Reading:
    """Read the first document; the keys stay as written.

    Raises:
        UnreadableFile: It is no valid YAML, or no mapping.
    """
    data = probe.path.read_bytes()
    progress(len(data))
    try:
        documents = yaml.load_all(data.decode("utf-8-sig", "replace"), Loader=_PlainLoader)
        settings = next(iter(documents), None)
        settings = _overrides(settings) if isinstance(settings, list) else settings
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise UnreadableFile(f"{probe.source}: not valid YAML ({_where(error)})") from error
    if not isinstance(settings, Mapping):
        raise UnreadableFile(f"{probe.source}: YAML holds no settings")
    return Reading(settings=settings, summary=f"{len(settings)} settings")


def _overrides(lines: list[Any]) -> dict[str, Any] | None:
    """Settings of ``.hydra/overrides.yaml``: a list of ``optim.lr=0.1``."""
    pairs = [str(line).lstrip("+~").partition("=") for line in lines if isinstance(line, str)]
    return {key: yaml.safe_load(value) for key, _, value in pairs if key and value} or None


def _where(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deep"
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or type(error).__name__
    return f"line {mark.line + 1}: {what}" if mark else str(what)


READER = Reader("YAML configuration", 41, sniff, read)
