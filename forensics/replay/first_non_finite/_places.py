"""Where in a step an operation runs: phase, operation, module, and line of the user's code."""

import re
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn

from forensics.replay.first_non_finite._modules import ModuleStack, plain_path
from forensics.replay_facts import Phase

_TORCH = str(Path(torch.__file__).parent)
_OURS = str(Path(__file__).parents[2])
_STANDARD = sysconfig.get_path("stdlib")


@dataclass(frozen=True)
class Place:
    """Where in a step an operation runs."""

    phase: Phase
    operation: str
    module: str
    location: str


class Places:
    """Tells where an operation runs, in the backward pass by the forward call it belongs to.

    A node of the autograd graph carries the sequence number that was current when its forward
    operation ran; a line of text per number is all that is kept.
    """

    def __init__(self, model: nn.Module, *, stop: str) -> None:
        self._modules = ModuleStack(model)
        self._stop = stop
        self._names = {id(p): plain_path(name) for name, p in model.named_parameters()}
        self._forward: dict[int, Place] = {}
        self._recomputed: dict[int, Place] = {}
        self._last = -1

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follow the modules of the model while the context lasts."""
        with self._modules.watching():
            yield

    def note(self, operation: str) -> None:
        """Remember a forward operation for the node that autograd made for it, if it made one."""
        number = torch.autograd._get_sequence_nr() - 1  # type: ignore[attr-defined]
        if number == self._last:
            return
        self._last = number
        notes = self._recomputed if in_backward() else self._forward
        notes[number] = self._ahead(operation)

    def here(self, operation: str) -> Place:
        """Where the operation that is running now belongs."""
        node = _current_node()
        if node is None:
            return self._ahead(operation)
        origin = self._of_node(node)
        line = self._line()
        return replace(origin, phase=Phase.BACKWARD, location=line or origin.location)

    def _ahead(self, operation: str) -> Place:
        module = self._modules.innermost
        phase = Phase.LOSS if module is None else Phase.FORWARD
        return Place(phase, operation, module or "", self._line())

    def _of_node(self, node: Any) -> Place:
        variable = getattr(node, "variable", None)
        if variable is not None:
            module = self._names.get(id(variable), "").rpartition(".")[0]
            return Place(Phase.BACKWARD, "accumulate_grad", module, "")
        number = node._sequence_nr()
        noted = self._forward.get(number) or self._recomputed.get(number)
        name = _forward_name(node, noted)
        return replace(noted, operation=name) if noted else Place(Phase.BACKWARD, name, "", "")

    def _line(self) -> str:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            file = frame.f_code.co_filename
            if file == self._stop:
                return ""
            if _is_users(file):
                return f"{file}:{frame.f_lineno}"
            frame = frame.f_back
        return ""


def in_backward() -> bool:
    """Whether autograd is running a node of its graph."""
    return _current_node() is not None


def _current_node() -> Any:
    return torch._C._current_autograd_node()


def _forward_name(node: Any, noted: Place | None) -> str:
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        return type(node).__name__.removesuffix("Backward")  # the user's own Function
    if noted:
        return noted.operation
    plain = re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()


@cache
def _is_users(file: str) -> bool:
    if file.startswith((_TORCH, _OURS, "<")):
        return False
    return not file.startswith(_STANDARD) or "site-packages" in file
