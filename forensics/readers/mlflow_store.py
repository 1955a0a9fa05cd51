"""Parameters and state of a run in MLflow's file store: ``mlruns/<experiment>/<run>/``.

``params/<name>`` holds the value of one parameter and nothing else; ``meta.yaml`` holds the state:
1 running, 3 finished, 4 failed, 5 killed. A run that was still running when its files were last
written has no ``end_time``. Metrics are read with the tables.
"""

import re

import yaml

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.run import TextEvidence, TextKind

MAX_BYTES = 1 << 16
_PARAMETER = re.compile(r"(?:^|.*/)[0-9a-f]{32}/params/(.+)")
_STATES = {3: TextKind.RUN_FINISHED, 5: TextKind.KILLED}
_STARTED = re.compile(r"start_time: *(\d{10,16})")


def sniff(probe: Probe) -> bool:
    """A file of parameters, or the description of a run."""
    if probe.size > MAX_BYTES:
        return False
    if probe.path.name == "meta.yaml":
        return b"run_id:" in probe.head or b"run_uuid:" in probe.head
    return _PARAMETER.fullmatch(probe.source) is not None


def read(probe: Probe, progress: Progress) -> Reading:
    """Read one parameter, or when the run started and how it ended.

    Raises:
        UnreadableFile: The description is no YAML.
    """
    text = probe.path.read_bytes().decode("utf-8", "replace")
    progress(probe.size)
    parameter = _PARAMETER.fullmatch(probe.source)
    if parameter:
        return Reading(settings={parameter[1]: text.strip()}, summary="1 setting")
    try:
        description = yaml.safe_load(text)
        state = int(description["status"])
    except (yaml.YAMLError, RecursionError, LookupError, TypeError, ValueError) as error:
        raise UnreadableFile(f"{probe.source}: not the description of a run") from error
    started = _STARTED.search(text)
    return Reading(
        settings={"start_time": int(started[1])} if started else {},
        text=_ending(state, probe.source, text),
        summary="state of the run",
    )


def _ending(state: int, source: str, text: str) -> tuple[TextEvidence, ...]:
    line = next((n for n, t in enumerate(text.splitlines(), 1) if t.startswith("status:")), 1)
    kind = _STATES.get(state)
    return () if kind is None else (TextEvidence(kind, f"MLflow: status {state}", source, line),)


READER = Reader("MLflow store", 25, sniff, read)
