"""Settings written as JSON.

What this reads, by example::

    {"learning_rate": 1e-4, "optimizer": {"name": "adamw", "betas": [0.9, 0.95]}}

args.json, config.json, hparams.json, flags, ds_config and the like, of any framework; a model's
config.json and an adapter_config.json too. Results (``all_results.json``, a submission with its
final loss) are no settings and are left alone.
"""

import json
import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._settings import looks_like_settings
from forensics.readers._text.commands import read_command

MAX_BYTES = 16 << 20
"""No configuration is larger; what is, is data."""


def sniff(probe: Probe) -> bool:
    """A single JSON object whose keys are settings."""
    if probe.path.suffix.lower() not in (".json", ".json5", "") or probe.size > MAX_BYTES:
        return False
    head = probe.head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not head.startswith(b"{") or _is_a_row(head):
        return False
    if probe.path.name == "wandb-metadata.json":
        return True
    return looks_like_settings(PurePath(probe.path.name).stem, head)


def _is_a_row(head: bytes) -> bool:
    """True where further objects follow on lines of their own: rows of a log."""
    first, _, rest = head.partition(b"\n")
    return first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")


def read(probe: Probe, progress: Progress) -> Reading:
    """Read the object; the keys stay as written.

    Raises:
        UnreadableFile: It is no valid JSON, or not an object.
    """
    data = probe.path.read_bytes()
    progress(len(data))
    try:
        settings = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        what = "nested too deep" if isinstance(error, RecursionError) else f"{error}"
        raise UnreadableFile(f"{probe.source}: not valid JSON ({what})") from error
    if not isinstance(settings, Mapping):
        raise UnreadableFile(f"{probe.source}: JSON holds no settings")
    settings = {**_command_line(settings.get("args")), **settings}
    return Reading(settings=settings, summary=f"{len(settings)} settings")


def _command_line(args: Any) -> dict[str, Any]:
    """Settings in a list of arguments, as wandb-metadata.json keeps it."""
    if not isinstance(args, list) or not all(isinstance(arg, str) for arg in args):
        return {}
    return read_command(shlex.join(["python", "train.py", *args])) or {}


READER = Reader("JSON configuration", 40, sniff, read)
