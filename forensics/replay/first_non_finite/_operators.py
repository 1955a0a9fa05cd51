"""What an operator of torch does with its arguments, read from its schema."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

_UNWRITTEN = frozenset(
    {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}
) | {"resize_", "resize_as_", "set_"}
"""Give memory that holds whatever was there before."""

_OVERWRITERS = frozenset(
    {"copy_", "fill_", "zero_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_"}
) | {"cauchy_", "log_normal_", "geometric_", "eye_", "set_data"}
"""Write in place without reading what was there."""


@dataclass(frozen=True)
class Operator:
    """One overload of an operator."""

    name: str
    """Without namespace and overload: ``log``, ``native_layer_norm``."""
    makes_no_value: bool
    """A view, or memory not yet written."""
    elementwise: bool
    """Each output element depends on the input elements at its place (after broadcasting)."""
    written: tuple[int, ...]
    """Positions of the arguments it writes in place."""
    outs: tuple[str, ...]
    """Names of the arguments it writes without reading them, as ``out``."""
    overwrites: bool
    """What it writes in place it does not read."""


@dataclass(frozen=True)
class Call:
    """One call of an operator; what it wrote in place is held as it was before."""

    operator: Operator
    arguments: tuple[Any, ...]
    inputs: tuple[Tensor, ...]
    """Every tensor that it read."""
    outputs: tuple[Tensor, ...]
    """Every tensor that it gave or wrote."""

    @property
    def named(self) -> tuple[float, ...]:
        """Infinities and NaN that the caller wrote as plain numbers, as a mask's fill is."""
        plain = (v for v in self.arguments if isinstance(v, float))
        return tuple(value for value in plain if not math.isfinite(value))

    def tensor(self, position: int) -> Tensor | None:
        """The argument at a position, where it is a tensor."""
        found = self.arguments[position] if position < len(self.arguments) else None
        return found if isinstance(found, Tensor) else None


@cache
def operator_of(function: Any) -> Operator:
    """What is known of a function that a dispatch mode was called with."""
    schema = getattr(function, "_schema", None)
    if schema is None:  # a higher-order operator
        return Operator(str(function), False, False, (), (), False)
    name = schema.name.rpartition("::")[2]
    written = [
        (position, argument)
        for position, argument in enumerate(schema.arguments)
        if argument.alias_info and argument.alias_info.is_write
    ]
    gives_views = any(r.alias_info and not r.alias_info.is_write for r in schema.returns)
    return Operator(
        name=name,
        makes_no_value=name in _UNWRITTEN or gives_views,
        elementwise=torch.Tag.pointwise in function.tags,
        written=tuple(position for position, argument in written if not argument.kwarg_only),
        outs=tuple(argument.name for _, argument in written if argument.kwarg_only),
        overwrites=name in _OVERWRITERS,
    )


def tensors_in(values: object) -> list[Tensor]:
    """Every tensor in a structure of arguments or results, each once, in order."""
    leaves = (leaf for leaf in tree_leaves(values) if isinstance(leaf, Tensor))
    return list({id(leaf): leaf for leaf in leaves}.values())
