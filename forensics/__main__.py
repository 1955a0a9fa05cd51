"""``python -m forensics``."""

from forensics.cli import entry_point

entry_point()
