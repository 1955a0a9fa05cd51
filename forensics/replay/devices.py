"""Which device the replay runs on, and why."""

import torch

from forensics.replay.errors import ReplayError


def choose_device(wanted: str) -> tuple[torch.device, str]:
    """The device and a few words for the report.

    Args:
        wanted: ``auto``, ``cpu``, ``cuda`` or ``cuda:N``.

    Raises:
        ReplayError: There is no such device.
    """
    if wanted == "cpu":
        return torch.device("cpu"), "cpu (as asked)"
    seen = torch.cuda.is_available()
    if wanted == "auto":
        if not seen:
            return torch.device("cpu"), "cpu (torch sees no CUDA device)"
        return torch.device("cuda:0"), f"cuda:0 ({torch.cuda.get_device_name(0)})"
    index = wanted.partition(":")[2] or "0"
    if not wanted.startswith("cuda") or not index.isdecimal():
        raise ReplayError(f"--device {wanted}: it is auto, cpu, cuda or cuda:N")
    if not seen or int(index) >= torch.cuda.device_count():
        count = torch.cuda.device_count() if seen else 0
        raise ReplayError(f"--device {wanted}: torch sees {count} CUDA devices here; try auto")
    return torch.device(f"cuda:{index}"), f"cuda:{index} ({torch.cuda.get_device_name(int(index))})"
