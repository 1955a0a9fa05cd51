"""Where the parts of one TensorBoard event lie, from a plain walk through its protobuf fields.

Events that a program logs step after step differ in a few numbers only. So one of them is walked
through here, byte by byte, and what comes out says where those numbers lie in all the others that
agree with it in every byte which the walk looked at (``seen``).

Field numbers are those of TensorBoard's ``event.proto``, ``summary.proto`` and ``tensor.proto``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forensics.readers._event_file.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    MalformedMessageError,
    Walk,
)

NOWHERE = slice(0, 0)  # what a message leaves out is zero or empty
SCALARS, TEXT, HPARAMS = b"scalars", b"text", b"hparams"  # names of plugins

_DATA_CLASS_SCALAR = 1
_DT_STRING, _STRING_VAL = 7, 8
_TENSOR_CONTENT = 4  # the field that holds a tensor's values as they lie in memory
_DTYPES = {  # DataType: its name in numpy, and the field that lists values one by one
    1: ("<f4", 5),
    2: ("<f8", 6),
    3: ("<i4", 7),
    4: ("<u1", 7),
    5: ("<i2", 7),
    6: ("<i1", 7),
    9: ("<i8", 10),
    10: ("<?", 11),
    14: ("bfloat16", 13),
    17: ("<u2", 7),
    19: ("<f2", 13),
    22: ("<u4", 16),
    23: ("<u8", 17),
}


@dataclass(frozen=True)
class Number:
    """One number in a payload."""

    at: slice
    """Its bytes; none where the message leaves out a zero."""
    dtype: str
    """numpy's name of its type, or ``bfloat16``."""
    varint: bool = False
    """True where the bytes are a varint that holds the number's bits."""


@dataclass(frozen=True)
class Scalar:
    """One logged number with its tag."""

    tag: slice
    number: Number


@dataclass(frozen=True)
class Text:
    """One logged text, or the settings that the hparams plugin stores."""

    tag: slice
    parts: tuple[slice, ...]
    plugin: bytes


@dataclass(frozen=True)
class Layout:
    """Where the parts of an event lie; offsets count from the begin of its payload."""

    seen: bytes
    """A mask for each byte of the payload: the bits that decided the walk."""
    wall_time: slice
    step: slice
    scalars: tuple[Scalar, ...]
    texts: tuple[Text, ...]
    valid: bool = True
    """False where the payload is not an event at all."""


def layout_of(payload: bytes) -> Layout:
    """Walk through one event."""
    walk = Walk(payload)
    try:
        return _event(walk)
    except MalformedMessageError:
        return Layout(bytes(walk.seen), NOWHERE, NOWHERE, (), (), valid=False)


def _event(walk: Walk) -> Layout:
    wall_time = step = NOWHERE
    values: list[Scalar | Text] = []
    for field, wire, at in walk.fields(walk.whole):
        if (field, wire) == (1, FIXED64):
            wall_time = at
        elif (field, wire) == (2, VARINT):
            step = at
        elif (field, wire) == (5, BYTES):
            values += _summary(walk, at)
    return Layout(
        bytes(walk.seen),
        wall_time=wall_time,
        step=step,
        scalars=tuple(value for value in values if isinstance(value, Scalar)),
        texts=tuple(value for value in values if isinstance(value, Text)),
    )


def _summary(walk: Walk, summary: slice) -> Iterator[Scalar | Text]:
    for field, wire, at in walk.fields(summary):
        if (field, wire) == (1, BYTES) and (value := _value(walk, at)):
            yield value


def _value(walk: Walk, value: slice) -> Scalar | Text | None:
    """A scalar or a text; None for images, histograms and all else."""
    tag = metadata = NOWHERE
    simple = tensor = None
    for field, wire, at in walk.fields(value):
        if (field, wire) == (1, BYTES):
            tag = at
        elif (field, wire) == (2, FIXED32):
            simple = at
        elif (field, wire) == (8, BYTES):
            tensor = at
        elif (field, wire) == (9, BYTES):
            metadata = at
    if simple:
        return Scalar(tag, Number(simple, "<f4"))
    plugin, content, data_class = _metadata(walk, metadata)
    if plugin == HPARAMS and content:
        return Text(tag, (content,), plugin)
    if not tensor:
        return None
    dtype, single, parts = _tensor(walk, tensor)
    if plugin == TEXT and dtype == _DT_STRING:
        return Text(tag, tuple(parts.get(_STRING_VAL, ())), plugin)
    if plugin in (b"", SCALARS) or data_class == _DATA_CLASS_SCALAR:
        number = _number(walk, dtype, parts) if single else None
        return Scalar(tag, number) if number else None
    return None


def _metadata(walk: Walk, metadata: slice) -> tuple[bytes, slice | None, int]:
    """Plugin name, plugin content and data class of a SummaryMetadata message."""
    plugin, content, data_class = b"", None, 0
    for field, wire, at in walk.fields(metadata):
        if (field, wire) == (4, VARINT):
            data_class = walk.number(at)
        elif (field, wire) == (1, BYTES):
            for inner, inner_wire, inner_at in walk.fields(at):
                if (inner, inner_wire) == (1, BYTES):
                    plugin = walk.bytes_at(inner_at)
                elif (inner, inner_wire) == (2, BYTES):
                    content = inner_at
    return plugin, content, data_class


_Parts = dict[int, list[slice]]  # what a tensor holds, by field


def _tensor(walk: Walk, tensor: slice) -> tuple[int, bool, _Parts]:
    """DataType, whether the shape is that of one element, and the fields that hold values."""
    dtype, single = 0, True
    parts: _Parts = {}
    for field, wire, at in walk.fields(tensor):
        if (field, wire) == (1, VARINT):
            dtype = walk.number(at)
        elif (field, wire) == (2, BYTES):
            single = _is_single(walk, at)
        elif at.stop > at.start:
            parts.setdefault(field, []).append(at)
    return dtype, single, parts


def _is_single(walk: Walk, shape: slice) -> bool:
    """Whether every dimension of a TensorShape is one; a scalar has no dimension."""
    sizes = []
    for field, wire, at in walk.fields(shape):
        if (field, wire) == (2, BYTES):
            size = [walk.number(n) for f, w, n in walk.fields(at) if (f, w) == (1, VARINT)]
            sizes.append(size[-1] if size else 0)
    return all(size == 1 for size in sizes)


def _number(walk: Walk, dtype: int, parts: _Parts) -> Number | None:
    """The one number of a tensor, None where it holds several or is not numeric."""
    if dtype not in _DTYPES:
        return None
    name, listed = _DTYPES[dtype]
    size = 2 if name == "bfloat16" else int(name[2:] or 1)
    if _TENSOR_CONTENT in parts:
        at = parts[_TENSOR_CONTENT][-1]
        return Number(at, name) if at.stop - at.start == size else None
    if listed not in parts:
        return Number(NOWHERE, name)
    at, *more = parts[listed]
    fixed = listed in (5, 6)
    end = at.start + size if fixed else walk.varint(at.start, at.stop, mask=0x80)[1]
    return Number(at, name, varint=not fixed) if end == at.stop and not more else None
