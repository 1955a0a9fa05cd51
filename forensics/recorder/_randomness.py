"""States of the random generators, taken at every step and spelled out when they are saved."""

import base64
import json
import random
from typing import Any

import numpy as np
import torch

States = dict[str, Any]


def random_states() -> States:
    """Of torch, its current CUDA device, numpy and Python."""
    states = {
        "torch": torch.get_rng_state(),
        "numpy": np.random.get_state(legacy=False),
        "python": random.getstate(),
    }
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        states["cuda"] = torch.cuda.get_rng_state()
    return states


def spelled_out(states: States) -> dict[str, str]:
    """The states as text: base64 of the bytes of torch's, JSON in base64 of the others'."""
    return {name: base64.b64encode(_bytes(state)).decode() for name, state in states.items()}


def _bytes(state: Any) -> bytes:
    if isinstance(state, torch.Tensor):
        return state.numpy().tobytes()
    return json.dumps(state, default=lambda array: array.tolist()).encode()
