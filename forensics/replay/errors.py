"""What can go wrong in a replay."""

from forensics.errors import ForensicsError


class ReplayError(ForensicsError):
    """The replay file, or something it needs, cannot be used; names the file and the line."""


class NotDone(Exception):
    """An experiment that does not apply, or that the budget has no room for; says why."""
