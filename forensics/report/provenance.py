"""Which version of the tool made a report."""

from importlib import metadata

SCHEMA_VERSION = 1
"""Of the JSON: raised when a key changes its meaning, never for an added key."""
DISTRIBUTION = "run-forensics"


def version() -> str:
    """The installed version; a checkout that was never installed says so."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "checkout"
