"""Any other folder that is one save: every file in it that is of a known format.

Copies that several ranks wrote, in folders ``rank_<K>`` or files so named, are kept apart.
"""

from pathlib import Path

from forensics.checkpoints._base import Opened, Opener


def sniff(path: Path) -> bool:
    """A folder."""
    return path.is_dir()


def open_folder(path: Path) -> Opened:
    """Open all its files as one save.

    Raises:
        UnreadableFile: None of them could be read.
    """
    from forensics.checkpoints._save_folder import opened_folder, read_folder

    return opened_folder(path, "folder", list(read_folder(path)))


OPENER = Opener("folder", 90, sniff, open_folder)
