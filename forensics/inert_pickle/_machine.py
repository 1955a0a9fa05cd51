"""The pickle machine: a stack, marks on it, a memo, and one function for each operation."""

import pickletools
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO

from forensics.errors import UnreadableFile
from forensics.inert_pickle._stand_ins import (
    PLAIN_CONSTRUCTORS,
    Constructor,
    Global,
    Inert,
    as_key,
)

MAX_OPERATIONS = 5_000_000
_STOP = b"."
_TOO_LONG = "pickle asks for more operations than any real one needs"
_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg"}
"""Modules of Python 2, under whose names protocol 2 still writes."""


def load(
    stream: BinaryIO,
    *,
    constructors: Mapping[str, Constructor] = MappingProxyType({}),
    persistent: Callable[[Any], Any] = lambda pid: Inert("persistent", (pid,)),
    max_operations: int = MAX_OPERATIONS,
) -> Any:
    """Read one pickle; the stream is left behind its last byte.

    Args:
        stream: Seekable, positioned at the pickle.
        constructors: Our own functions for globals we know, by full name, called with the
            arguments that the pickle gives; they must not trust these.
        persistent: Our own function for persistent ids (the storages of torch).
        max_operations: Bound on the length of the program.

    Raises:
        UnreadableFile: It is no pickle, is cut short, or exceeds a bound.
    """
    machine = _Machine({**PLAIN_CONSTRUCTORS, **constructors}, persistent, max_operations)
    try:
        return machine.run(stream)
    except UnreadableFile:
        raise
    except Exception as error:  # any fault of a hostile program is a fault of the file
        raise UnreadableFile(f"not a readable pickle ({error})") from error


class _Machine:
    """The pickle machine: a stack, the marks on it, and the memo."""

    def __init__(
        self,
        constructors: Mapping[str, Constructor],
        persistent: Callable[[Any], Any],
        max_operations: int,
    ) -> None:
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}
        self.constructors = constructors
        self.persistent = persistent
        self.operations_left = max_operations

    def run(self, stream: BinaryIO) -> Any:
        read = stream.read
        while self.operations_left > 0:
            self.operations_left -= 1
            code = read(1)
            if code == _STOP:
                return self.stack.pop()
            if code not in _CODES:
                raise UnreadableFile("unknown operation" if code else "pickle is cut short")
            operation, argument_of = _CODES[code]
            operation(self, argument_of(stream) if argument_of else None)
        raise UnreadableFile(_TOO_LONG)

    def spend(self, operations: int) -> None:
        """Charge for work that the program asks for, copies made of its arguments included."""
        self.operations_left -= operations
        if self.operations_left < 0:
            raise UnreadableFile(_TOO_LONG)

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        start = self.marks.pop()
        taken = self.stack[start:]
        del self.stack[start:]
        return taken

    def build(self, what: Any, args: Any) -> Any:
        """Stand in for the call ``what(*args)``."""
        args = args if isinstance(args, tuple) else (args,)
        if not isinstance(what, Global):
            return Inert(getattr(what, "name", type(what).__name__), args)
        if what.name in ("copyreg._reconstructor", "copyreg.__newobj__"):
            first = args[0] if args else None
            return self.build(first, args[3:] if "_recon" in what.name else args[1:])
        constructor = self.constructors.get(what.name)
        if constructor is not None:
            self.spend(sum(_size(argument) for argument in args))
            try:
                return constructor(*args)
            except (TypeError, ValueError, AttributeError, LookupError):
                pass  # not the arguments that its owner writes: keep them as they are
        return Inert(what.name, args)


def _size(argument: Any) -> int:
    """Operations that copying an argument is worth: one an element, one for 256 characters."""
    if isinstance(argument, (list, dict, tuple)):
        return len(argument)
    return len(argument) // 256 if isinstance(argument, str) else 0


def _set_items(target: Any, flat: list[Any]) -> None:
    store = target.items if isinstance(target, Inert) else target
    if isinstance(store, dict):
        for key, value in zip(flat[::2], flat[1::2], strict=True):
            store[as_key(key)] = value


def _extend(target: Any, values: Iterable[Any]) -> None:
    store = target.elements if isinstance(target, Inert) else target
    if isinstance(store, list):
        store.extend(values)


def _set_state(machine: _Machine, _: Any) -> None:
    state = machine.stack.pop()
    if isinstance(machine.stack[-1], Inert):  # state of a plain container is of no use here
        machine.stack[-1].state = state


def _add_item(machine: _Machine, _: Any) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _set_items(machine.stack[-1], [key, value])


def _add_items(machine: _Machine, _: Any) -> None:
    flat = machine.since_mark()
    _set_items(machine.stack[-1], flat)


def _append(machine: _Machine, _: Any) -> None:
    value = machine.stack.pop()
    _extend(machine.stack[-1], [value])


def _append_all(machine: _Machine, _: Any) -> None:
    values = machine.since_mark()
    _extend(machine.stack[-1], values)


def _stack_global(machine: _Machine, _: Any) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    machine.push(_global(str(module), str(name)))


def _global(module: str, name: str) -> Global:
    return Global(f"{_RENAMED.get(module, module)}.{name}")


def _call(machine: _Machine, _: Any) -> None:
    args = machine.stack.pop()
    machine.push(machine.build(machine.stack.pop(), args))


def _call_with_keywords(machine: _Machine, _: Any) -> None:
    keywords, args = machine.stack.pop(), machine.stack.pop()
    made = machine.build(machine.stack.pop(), args)
    if isinstance(made, Inert) and isinstance(keywords, dict):
        made.items.update(keywords)
    machine.push(made)


def _call_named(machine: _Machine, argument: str) -> None:
    module, _, name = argument.partition(" ")
    machine.push(machine.build(_global(module, name), tuple(machine.since_mark())))


def _call_since_mark(machine: _Machine, _: Any) -> None:
    what, *args = machine.since_mark()
    machine.push(machine.build(what, tuple(args)))


def _push_tuple(size: int) -> Callable[[_Machine, Any], None]:
    def push(machine: _Machine, _: Any) -> None:
        start = len(machine.stack) - size
        if start < 0:
            raise IndexError("stack is empty")
        machine.stack[start:] = [tuple(machine.stack[start:])]

    return push


def _push_dict(machine: _Machine, _: Any) -> None:
    flat = machine.since_mark()
    made: dict[Any, Any] = {}
    _set_items(made, flat)
    machine.push(made)


def _remember(machine: _Machine, argument: int | None) -> None:
    machine.memo[len(machine.memo) if argument is None else argument] = machine.stack[-1]


def _nothing(_: _Machine, __: Any) -> None:
    """Framing and protocol marks carry nothing."""


_Operation = Callable[[_Machine, Any], object]
_VALUES = (
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
    *("BYTEARRAY8", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"),
)
_OPERATIONS: dict[str, _Operation] = {
    **dict.fromkeys(_VALUES, lambda m, argument: m.push(argument)),
    **dict.fromkeys(("PROTO", "FRAME", "READONLY_BUFFER"), _nothing),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"), _remember),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda m, at: m.push(m.memo[at])),
    **dict.fromkeys(("REDUCE", "NEWOBJ"), _call),
    "NONE": lambda m, _: m.push(None),
    "NEWTRUE": lambda m, _: m.push(True),
    "NEWFALSE": lambda m, _: m.push(False),
    "EMPTY_TUPLE": lambda m, _: m.push(()),
    "EMPTY_LIST": lambda m, _: m.push([]),
    "EMPTY_DICT": lambda m, _: m.push({}),
    "EMPTY_SET": lambda m, _: m.push([]),
    "MARK": lambda m, _: m.marks.append(len(m.stack)),
    "POP": lambda m, _: m.stack.pop(),
    "POP_MARK": lambda m, _: m.since_mark(),
    "DUP": lambda m, _: m.push(m.stack[-1]),
    "TUPLE": lambda m, _: m.push(tuple(m.since_mark())),
    "TUPLE1": _push_tuple(1),
    "TUPLE2": _push_tuple(2),
    "TUPLE3": _push_tuple(3),
    "LIST": lambda m, _: m.push(m.since_mark()),
    "FROZENSET": lambda m, _: m.push(m.since_mark()),
    "DICT": _push_dict,
    "APPEND": _append,
    "APPENDS": _append_all,
    "ADDITEMS": _append_all,
    "SETITEM": _add_item,
    "SETITEMS": _add_items,
    "GLOBAL": lambda m, name: m.push(_global(*name.split(" ", 1))),
    "STACK_GLOBAL": _stack_global,
    "INST": _call_named,
    "OBJ": _call_since_mark,
    "NEWOBJ_EX": _call_with_keywords,
    "BUILD": _set_state,
    "PERSID": lambda m, pid: m.push(m.persistent(pid)),
    "BINPERSID": lambda m, _: m.push(m.persistent(m.stack.pop())),
}
"""Extension registry and out-of-band buffers are missing on purpose: no file on disk needs them."""

_CODES: dict[bytes, tuple[_Operation, Callable[[BinaryIO], Any] | None]] = {
    opcode.code.encode("latin-1"): (
        _OPERATIONS[opcode.name],
        opcode.arg.reader if opcode.arg else None,
    )
    for opcode in pickletools.opcodes
    if opcode.name in _OPERATIONS
}
"""Byte -> operation, and the reader of its argument."""
