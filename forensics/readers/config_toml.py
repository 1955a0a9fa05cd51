"""Settings written as TOML, as torchtitan's job configuration is.

What this reads, by example::

    [optimizer]
    lr = 3e-4

    [training]
    steps = 10_000
    max_norm = 1.0

The tables of a package or a tool (``pyproject.toml``, ``Cargo.toml``) are no settings of a run.
"""

import re
import tomllib

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._settings import looks_like_settings

MAX_BYTES = 1 << 20
"""No configuration is larger; what is, is data."""
_OF_TOOLS = re.compile(
    r"(?i:pyproject|cargo|pipfile|poetry|uv|pixi|ruff|mypy|netlify|rustfmt|taplo|book)"
)


def sniff(probe: Probe) -> bool:
    """A TOML file whose keys are settings."""
    if probe.path.suffix.lower() != ".toml" or probe.size > MAX_BYTES:
        return False
    if _OF_TOOLS.fullmatch(probe.path.stem):
        return False
    return looks_like_settings(probe.path.stem, probe.head)


def read(probe: Probe, progress: Progress) -> Reading:
    """Read all tables; the keys stay as written.

    Raises:
        UnreadableFile: It is no valid TOML.
    """
    data = probe.path.read_bytes()
    progress(len(data))
    try:
        settings = tomllib.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        what = "nested too deep" if isinstance(error, RecursionError) else f"{error}"
        raise UnreadableFile(f"{probe.source}: not valid TOML ({what})") from error
    return Reading(settings=settings, summary=f"{len(settings)} settings")


READER = Reader("TOML configuration", 43, sniff, read)
