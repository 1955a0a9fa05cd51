"""Makes a `forensics.run.Config` of settings as they were written, by whatever framework."""

from forensics.readers._settings.canonical import conflicts, make_config
from forensics.readers._settings.precedence import closeness
from forensics.readers._settings.recognise import looks_like_settings

__all__ = ["closeness", "conflicts", "looks_like_settings", "make_config"]
