"""Settings written as Python: the ``config.py`` of nanoGPT, mmengine and many scripts.

What this reads, by example::

    learning_rate = 6e-4
    optim_wrapper = dict(type="OptimWrapper", optimizer=dict(type="SGD", lr=0.02))

The file is parsed, never run: an assignment counts where its right side is built of literals,
``dict(...)`` and ``list(...)`` calls, and arithmetic on numbers.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._settings import looks_like_settings

MAX_BYTES = 1 << 20
_NAMES = ("config", "cfg", "hparams", "params", "settings", "finetune", "train_")
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
"""No powers and no shifts: a short text must not make a huge number."""


def sniff(probe: Probe) -> bool:
    """A Python file named like a configuration, most of whose lines assign settings."""
    stem = probe.path.stem.lower()
    if probe.path.suffix != ".py" or probe.size > MAX_BYTES:
        return False
    named = any(part in stem for part in _NAMES)
    return named and b"\ndef " not in probe.head and looks_like_settings("config", probe.head)


def read(probe: Probe, progress: Progress) -> Reading:
    """Read the assignments whose value is literal.

    Raises:
        UnreadableFile: It is no valid Python, or assigns nothing literal.
    """
    data = probe.path.read_bytes()
    progress(len(data))
    try:
        tree = ast.parse(data.decode("utf-8-sig", "replace"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableFile(f"{probe.source}: not valid Python") from error
    settings: dict[str, Any] = {}
    for target, node in _assignments(tree):
        try:
            settings[target] = _literal(node, settings)
        except (ValueError, TypeError, ArithmeticError, RecursionError):
            continue  # computed at run time: the file alone does not say it
    if not settings:
        raise UnreadableFile(f"{probe.source}: assigns no literal settings")
    return Reading(settings=settings, summary=f"{len(settings)} settings, file not run")


def _assignments(tree: ast.Module) -> list[tuple[str, ast.expr]]:
    found: list[tuple[str, ast.expr]] = []
    for statement in tree.body:
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        value = getattr(statement, "value", None)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(value, ast.expr):
            found += [(t.id, value) for t in targets if isinstance(t, ast.Name)]
    return found


def _literal(node: ast.expr, known: dict[str, Any]) -> Any:
    """Value of an expression of literals and of names assigned before.

    Raises:
        ValueError: It holds anything else.
    """
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_literal(k, known): _literal(v, known) for k, v in pairs if k is not None}
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_literal(part, known) for part in node.elts]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return {k.arg: _literal(k.value, known) for k in node.keywords if k.arg}
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        return _computed(_ARITHMETIC[type(node.op)], node, known)
    return ast.literal_eval(node)


def _computed(
    apply: Callable[[Any, Any], Any], node: ast.BinOp, known: dict[str, Any]
) -> float | int:
    left, right = _literal(node.left, known), _literal(node.right, known)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        raise ValueError("arithmetic on something other than numbers")
    return apply(left, right)  # type: ignore[no-any-return]


READER = Reader("Python configuration", 42, sniff, read)
