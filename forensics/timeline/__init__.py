"""Run -> Timeline: canonical names, step order, attempts and resumes resolved.

Nothing is smoothed, filled, or dropped for being non-finite.
"""

from forensics.timeline._build import build
from forensics.timeline._values import Attempt, Resume, Timeline, Track

__all__ = ["Attempt", "Resume", "Timeline", "Track", "build"]
