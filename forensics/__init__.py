"""Finds out why a training run died: reads what it left behind and names the root cause.

::

    import forensics
    run = forensics.open_run("runs/exp1")     # reads the logs and configuration
    run.frame                                 # every logged point, as a table
    d = forensics.analyze("runs/exp1")        # a path or a Run
    d.outcome, d.hypotheses[0].cause          # a notebook shows ``d`` by itself
    forensics.scan("checkpoint-400")          # one row a tensor: NaN, Inf, zeros, RMS ...
    forensics.causes()                        # every cause the tool can name, with its page

The names below are imported when they are first used, so that ``import forensics`` is free.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forensics import causes as causes
    from forensics import scan as scan
    from forensics.analysis import analyze as analyze
    from forensics.analysis import open_run as open_run
    from forensics.diagnosis import Diagnosis as Diagnosis
    from forensics.errors import ForensicsError as ForensicsError
    from forensics.run import Run as Run

_HOME = {
    "Diagnosis": "forensics.diagnosis",
    "ForensicsError": "forensics.errors",
    "Run": "forensics.run",
    "analyze": "forensics.analysis",
    "open_run": "forensics.analysis",
}
_ROOMS = ("causes", "scan")  # packages that can be called
__all__ = ["Diagnosis", "ForensicsError", "Run", "analyze", "causes", "open_run", "scan"]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"forensics.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'forensics' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
