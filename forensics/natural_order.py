"""The order in which people read names: ``step_2`` before ``step_10``."""

import re


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which numbers inside a name count as numbers."""
    parts = re.split(r"(\d+)", text.lower())
    return tuple((1, int(p), "") if p.isdecimal() else (0, 0, p) for p in parts)
