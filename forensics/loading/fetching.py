"""Brings a log that lies elsewhere here, for as long as it is read."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forensics.readers._base import Probe
from forensics.remote import RemotePath


class Fetched:
    """A file as `Reader.sniff` and `Reader.read` want it.

    A local file is read where it lies. Of a remote one the head is looked at over the wire; only
    once a reader wants it, it is copied, once, into a temporary folder: readers go over a file
    more than once, and hand some files to libraries that know nothing of addresses.
    """

    def __init__(self, probe: Probe, folder: Path | None) -> None:
        self.probe = probe
        self._folder = folder
        self._copy: Probe | None = None

    def whole(self) -> Probe:
        """The file, here.

        Raises:
            OSError: It could not be copied.
        """
        if self._folder is None:
            return self.probe
        if self._copy is None:
            target = self._folder / self.probe.source
            target.parent.mkdir(parents=True, exist_ok=True)
            with self.probe.path.open("rb") as source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, 1 << 20)
            self._copy = Probe(target, self._folder, target.stat().st_size)
        return self._copy


@contextmanager
def fetched(probe: Probe) -> Iterator[Fetched]:
    """Give the file, and remove what was copied of it."""
    if not isinstance(probe.path, RemotePath):
        yield Fetched(probe, None)
        return
    with tempfile.TemporaryDirectory(prefix="forensics-") as folder:
        yield Fetched(probe, Path(folder))
