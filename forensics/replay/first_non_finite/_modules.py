"""Which module of a model is running, by its path."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

_WRAPPINGS = ("_orig_mod.", "_checkpoint_wrapped_module.", "_fsdp_wrapped_module.")
"""Levels that compiling, checkpointing and sharding put into a path."""


class ModuleStack:
    """The modules whose forward pass is under way, outermost first."""

    def __init__(self, model: nn.Module) -> None:
        self._model = model
        self._paths: list[str] = []

    @property
    def innermost(self) -> str | None:
        """Path of the module that is running; '' for the model itself, None outside of it."""
        return self._paths[-1] if self._paths else None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Follow the forward passes of the model while the context lasts."""
        with ExitStack() as hooks:
            for path, module in self._model.named_modules():
                if isinstance(module, torch.jit.ScriptModule):
                    continue  # it takes no hooks; its operations count for the module around it
                for handle in self._hooks(plain_path(path), module):
                    hooks.callback(handle.remove)
            yield
        self._paths.clear()

    def _hooks(self, path: str, module: nn.Module) -> tuple[Any, Any]:
        def enter(*_: object) -> None:
            self._paths.append(path)

        def leave(*_: object) -> None:
            while self._paths and self._paths.pop() != path:
                pass  # a module inside it raised, and somebody caught that

        return (
            module.register_forward_pre_hook(enter, prepend=True),
            module.register_forward_hook(leave, always_call=True),
        )


def plain_path(path: str) -> str:
    """A module's path without the levels that wrappers add."""
    full = f"{path}."
    for wrapping in _WRAPPINGS:
        full = full.replace(wrapping, "")
    return full.removesuffix(".")
