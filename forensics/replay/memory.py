"""Whether the model fits: told with numbers before anything is loaded."""

from pathlib import Path

from forensics.checkpoints import Role, open_checkpoint
from forensics.errors import UnreadableFile
from forensics.replay.plan import ReplayPlan

GIB = 2.0**30


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


def _available() -> int | None:
    """Bytes that Linux can hand out without swapping; None elsewhere."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None
