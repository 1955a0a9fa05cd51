"""Keeps the replay off the network: what it finds must not depend on what is out there."""

import os
import sys
from typing import Any

from forensics.replay.errors import ReplayError

ALLOW = "FORENSICS_REPLAY_ONLINE"
"""Set to 1 where the batches themselves lie behind a network address."""
_LOCAL = ("127.", "::1", "localhost")


def stay_offline() -> None:
    """Refuse connections to other machines, but between the ranks of a distributed replay."""
    if os.environ.get(ALLOW) == "1" or int(os.environ.get("WORLD_SIZE", "1")) > 1:
        return
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE"):
        os.environ.setdefault(variable, "1")
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("socket.connect", "socket.getaddrinfo"):
        return
    address = arguments[1] if event == "socket.connect" else arguments[0]
    host = str(address[0] if isinstance(address, tuple) else address)
    remote = event == "socket.getaddrinfo" or isinstance(address, tuple)
    if remote and not host.startswith(_LOCAL):
        raise ReplayError(
            f"the replay file reaches for {host}, and a replay stays off the network; load it "
            f"beforehand, or set {ALLOW}=1"
        )
