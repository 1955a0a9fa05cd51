"""Keeps faults of watching out of the training that is watched."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class Warns(Protocol):
    """What can say once that something went wrong."""

    warn: "Once"


P = ParamSpec("P")
W = TypeVar("W", bound=Warns)
Method = Callable[Concatenate[W, P], None]


def never_raising(method: Method[W, P]) -> Method[W, P]:
    """The method with its exceptions turned into one warning."""

    @wraps(method)
    def call(self: W, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as error:
            self.warn(f"{type(error).__name__}: {error}")

    return call


class Once:
    """Logs the first of many warnings: thousands of equal lines help nobody."""

    def __init__(self, logger: str) -> None:
        self._logger, self._said = logging.getLogger(logger), False

    def __call__(self, text: str) -> None:
        """Log it; unlike a warning, a line of a log is never turned into an exception."""
        if not self._said:
            self._said = True
            self._logger.warning("%s", text)
