"""A dispatch mode that looks at what every operation of a step gives."""

from collections import deque
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from forensics.replay.first_non_finite._culprits import culprit_of
from forensics.replay.first_non_finite._numbers import describe, has_nan, is_bad, numbers
from forensics.replay.first_non_finite._operators import Call, Operator, operator_of, tensors_in
from forensics.replay.first_non_finite._origins import Ledger, Origin
from forensics.replay.first_non_finite._places import Places, in_backward
from forensics.replay_facts import NonFiniteOperation

_MOST_PHRASES = 8
_RECENT = 64
_LARGEST_COPY = 1 << 28  # bytes


class Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Checks the outputs of each operation and writes what it finds into a ledger.

    The one class here that inherits: torch calls a mode only through its base class.
    """

    supports_higher_order_operators = True

    def __init__(
        self, places: Places, ledger: Ledger, *, step: int, precision: str, loss_scale: float
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._places = places
        self._ledger = ledger
        self._step = step
        self._precision = precision
        self._loss_scale = loss_scale
        self._recent: deque[Origin | None] = deque(maxlen=_RECENT)

    @property
    def latest(self) -> Origin | None:
        """Origin of the last non-finite value among the operations just done, if any."""
        return next((o for o in reversed(self._recent) if o is not None), None)

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Run one operation and look at what it gave."""
        if any(kind.__torch_dispatch__ is not Tensor.__torch_dispatch__ for kind in types):
            return NotImplemented  # a wrapper such as a sharded tensor: its parts come next
        operator = operator_of(function)
        self._places.note(operator.name)
        if operator.makes_no_value:
            return function(*args, **(kwargs or {}))
        before = _as_before(operator, args)
        result = function(*args, **(kwargs or {}))
        self._look(
            operator, before, kwargs or {}, _given_or_written(operator, result, args, kwargs)
        )
        return result

    def _look(
        self, operator: Operator, before: tuple[Any, ...], kwargs: Any, outputs: list[Tensor]
    ) -> None:
        bad = [is_bad(tensor) for tensor in outputs]
        origin = None
        if any(bad):
            read = before[1:] if operator.overwrites else before
            named = {key: value for key, value in kwargs.items() if key not in operator.outs}
            inputs = tuple(tensors_in((read, named)))
            arguments = (*before, *kwargs.values())
            origin = self._origin(Call(operator, arguments, inputs, tuple(outputs)))
        for tensor, holds in zip(outputs, bad, strict=True):
            self._ledger.renew(tensor, origin if holds else None)
        if outputs:
            self._recent.append(origin)

    def _origin(self, call: Call) -> Origin:
        given = [tensor for tensor in call.inputs if is_bad(tensor)]
        inherited = Origin().joined([self._origin_of(tensor, call) for tensor in given])
        if inherited.fault is not None or (given and not _makes_more(call, given)):
            return inherited
        candidate = self._candidate(call, given)
        meant = bool(call.named) and not given and not any(map(has_nan, call.outputs))
        return inherited.joined([self._ledger.add(candidate, meant=meant)])

    def _origin_of(self, tensor: Tensor, call: Call) -> Origin:
        known = self._ledger.origin(tensor)
        if known is None and in_backward():
            known = self._ledger.earliest_fault()  # it came by a path that can't be watched
        if known is None:
            # No operation of this step made it: a constant of the code (an infinity is then meant),
            # numbers from another library, or memory that was never written.
            culprit = "a non-finite number that no operation of this step made"
            candidate = self._candidate(call, [tensor], culprit)
            known = self._ledger.add(candidate, meant=not has_nan(tensor))
            self._ledger.mark(tensor, known)
        return known

    def _candidate(
        self, call: Call, given: list[Tensor], culprit: str | None = None
    ) -> NonFiniteOperation:
        place = self._places.here(call.operator.name)
        if culprit is None:
            culprit = culprit_of(call, given, place, self._loss_scale)
        return NonFiniteOperation(
            step=self._step,
            precision=self._precision,
            phase=place.phase,
            operation=place.operation,
            module=place.module,
            kind="nan" if any(has_nan(tensor) for tensor in call.outputs) else "inf",
            inputs=tuple(describe(tensor) for tensor in call.inputs[:_MOST_PHRASES]),
            culprit=culprit,
            location=place.location,
        )


def _given_or_written(operator: Operator, result: Any, args: Any, kwargs: Any) -> list[Tensor]:
    """Every tensor that a call gave or wrote."""
    in_place = [args[i] for i in operator.written if i < len(args)]
    outs = [kwargs.get(name) for name in operator.outs] if kwargs else []
    return tensors_in((result, in_place, outs))


def _as_before(operator: Operator, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, those to be written in place copied first; very large ones are left out."""
    if not operator.written or operator.overwrites:
        return args
    return tuple(
        _copy(value) if i in operator.written and isinstance(value, Tensor) else value
        for i, value in enumerate(args)
    )


def _copy(tensor: Tensor) -> Tensor | None:
    if tensor.layout is torch.strided and tensor.nbytes > _LARGEST_COPY:
        return None
    return tensor.clone()


def _makes_more(call: Call, given: list[Tensor]) -> bool:
    """Whether an operation made non-finite values of its own beside those it was given."""
    if any(map(has_nan, call.outputs)) and not any(map(has_nan, given)):
        return True
    return call.operator.elementwise and any(_new_places(call, out) for out in call.outputs)


def _new_places(call: Call, output: Tensor) -> bool:
    """Whether an output is not finite at a place where every input is."""
    values = numbers(output)
    inputs = [numbers(tensor) for tensor in call.inputs]
    if values is None or any(
        v is not None and v.device != values.device and v.ndim for v in inputs
    ):
        return False
    known = torch.zeros_like(values, dtype=torch.bool)
    try:
        for tensor in inputs:
            known = known if tensor is None else known | ~torch.isfinite(tensor)
    except RuntimeError:  # shapes that do not broadcast: a mix of real and complex
        return False
    return bool((~torch.isfinite(values) & ~known).any())
