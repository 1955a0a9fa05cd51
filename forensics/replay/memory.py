"""Whether the model fits: told with numbers before anything is loaded."""

import os
import resource
from pathlib import Path

from forensics.checkpoints import Role, open_checkpoint
from forensics.errors import UnreadableFile
from forensics.replay.plan import ReplayPlan

GIB = 2.0**30
SHARE = 0.9
"""Of the free memory that the replay may take: the rest of the machine is to go on."""
MOST = "FORENSICS_REPLAY_MEMORY"
"""GiB that it may take, where that share is not wanted."""


def does_not_fit(plan: ReplayPlan) -> str:
    """One line with numbers where main memory is too small, '' where it is not or cannot be told.

    The model and its copy to go back to, gradients, optimizer state and its copy.
    """
    start = plan.before or plan.usable
    if start is None:
        return ""
    try:
        opened = open_checkpoint(plan.folder / start.path)
    except UnreadableFile:
        return ""
    weights = sum(t.size * t.dtype.size for t in opened.tensors if t.role is Role.PARAM)
    moments = sum(
        t.size * t.dtype.size for t in opened.tensors if t.role in (Role.EXP_AVG, Role.EXP_AVG_SQ)
    )
    needed = 3 * weights + 2 * (moments or 2 * weights)
    free = _available()
    if free is None or needed <= free:
        return ""
    return (
        f"{start.path}: replaying needs about {needed / GIB:.1f} GiB (three times the weights of "
        f"{weights / GIB:.1f} GiB and twice their optimizer state), {free / GIB:.1f} GiB are free"
    )


def limit_memory() -> None:
    """Let an allocation fail inside this process rather than let the system end another one.

    Of no use with CUDA, which maps far more than it takes.
    """
    free, taken = _available(), _status_bytes("VmData")
    if free is None or taken is None:
        return
    wanted = os.environ.get(MOST)
    room = float(wanted) * GIB if wanted else SHARE * free
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    limit = taken + int(room)
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def _status_bytes(name: str) -> int | None:
    """A size out of what Linux tells of this process; None elsewhere."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith(f"{name}:")]
    return int(found[0]) * 1024 if found else None


def _available() -> int | None:
    """Bytes that Linux can hand out without swapping; None elsewhere."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None
