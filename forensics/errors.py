"""The errors a user can meet.

::

    ForensicsError
    ├── NothingToAnalyse    no log, configuration or checkpoint was found
    ├── UnreadableFile      a file or folder could not be opened or understood
    └── UsageError          the call itself was wrong (an unknown run, an unknown cause)

Every message reads ``path: what is wrong`` and, where there is one, how to mend it.
"""


class ForensicsError(Exception):
    """Root of everything this package raises on purpose."""


class NothingToAnalyse(ForensicsError):
    """The folder holds nothing that any reader understands."""


class UnreadableFile(ForensicsError):
    """A file is damaged, of the wrong kind, or may not be read."""


class UsageError(ForensicsError):
    """The caller asked for something that does not exist."""
