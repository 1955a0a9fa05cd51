"""The user's replay file: the functions of CONTRACT.md, loaded and checked."""

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from forensics.replay.errors import NotDone, ReplayError

if TYPE_CHECKING:
    import torch
    from torch import nn

P = ParamSpec("P")
T = TypeVar("T")

REQUIRED = ("build_model", "load_batch", "compute_loss")
OPTIONAL = ("build_optimizer", "load_checkpoint")


@dataclass(frozen=True)
class ReplaySpec:
    """What is needed to run a step of the training again."""

    build_model: "Callable[[], nn.Module]"
    load_batch: Callable[[int], Any]
    """The batch whose loss the run logged as that step."""
    compute_loss: "Callable[[nn.Module, Any], torch.Tensor]"
    build_optimizer: "Callable[[nn.Module], torch.optim.Optimizer] | None" = None
    load_checkpoint: Callable[..., None] | None = None
    first_step: int | None = None
    """Number of the first step, where the user says."""
    source: str = ""
    """The file, or the name of the adapter."""
    steps: tuple[int, ...] | None = None
    """Steps whose batches there are; None: those of any step can be asked for."""

    def place(self, name: str) -> str:
        """``file:line: name`` of one of the functions, for a message about what it returned."""
        code = getattr(inspect.unwrap(getattr(self, name)), "__code__", None)
        line = f":{code.co_firstlineno}" if code is not None else ""
        return f"{self.source}{line}: {name}"


_RAISED = (Exception, SystemExit, KeyboardInterrupt)
"""What the user's code may raise; none of it ends the replay without a word."""


def load_spec(path: Path, entering: Callable[[str], None] = lambda place: None) -> ReplaySpec:
    """Run the user's replay file and take its functions.

    Args:
        path: The file.
        entering: Told of each piece of the user's code before it runs, as ``file:line: function``:
            code that ends the process cannot be asked afterwards.

    Raises:
        ReplayError: It cannot be read, it raises, or it lacks a function.
    """
    entering(f"{path}: importing it")
    module = _imported(path)
    for name in REQUIRED:
        if not callable(getattr(module, name, None)):
            raise ReplayError(
                f"{path}: it defines no function {name}; a replay file needs "
                f"{', '.join(REQUIRED)} (and may have {', '.join(OPTIONAL)} and FIRST_STEP)"
            )
    first = getattr(module, "FIRST_STEP", None)
    if first is not None and (isinstance(first, bool) or not isinstance(first, int)):
        raise ReplayError(f"{path}: FIRST_STEP is {first!r}; it is the number of a step")
    guarded: dict[str, Any] = {
        name: _guarded(getattr(module, name), name, path, entering)
        for name in (*REQUIRED, *OPTIONAL)
        if callable(getattr(module, name, None))
    }
    return ReplaySpec(**guarded, first_step=first, source=str(path))


def _imported(path: Path) -> Any:
    found = importlib.util.spec_from_file_location("forensics_replay_file", path)
    if not path.is_file() or found is None or found.loader is None:
        raise ReplayError(f"{path}: there is no such Python file")
    module = importlib.util.module_from_spec(found)
    # Dataclasses and pickling look a module up by name; the file may import its neighbours.
    sys.modules[found.name] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        found.loader.exec_module(module)
    except _RAISED as error:
        raise ReplayError(blame(error, path, "importing it")) from error
    return module


def _guarded(
    function: Callable[P, T], name: str, path: Path, entering: Callable[[str], None]
) -> Callable[P, T]:
    """The function with its exceptions turned into one line that names the user's own."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    place = f"{path}:{code.co_firstlineno}: {name}" if code is not None else f"{path}: {name}"

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        entering(place)
        try:
            return function(*args, **kwargs)
        except NotDone:
            raise
        except _RAISED as error:
            raise ReplayError(blame(error, path, name)) from error

    return call


def blame(error: BaseException, path: Path, doing: str) -> str:
    """One line: file and line of the user's code, what was being done, and what was raised."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).name == path.name] or frames[-1:]
    line = f":{own[-1].lineno}" if own else ""
    text = " ".join(str(error).split())
    if isinstance(error, ReplayError):  # our own refusal, raised inside the user's code
        return f"{path}{line}: {doing}: {text}"
    words = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{path}{line}: {doing} raised {words[:400]}"
