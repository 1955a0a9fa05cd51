"""A store that counts what is read of it and fails where it is told to."""

from typing import ClassVar

from fsspec.implementations.memory import MemoryFileSystem


class Shelf(MemoryFileSystem):
    """The memory file system behind ``shelf://``."""

    protocol = "shelf"
    store: ClassVar[dict] = {}
    pseudo_dirs: ClassVar[list] = [""]
    cachable = True
    read: ClassVar[dict] = {}
    """File -> bytes asked for."""
    faults: ClassVar[dict] = {}
    """(method, path) -> the exception it raises."""

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("shelf://", "memory://", 1))

    @classmethod
    def clear(cls):
        """Forget everything."""
        for held in (cls.store, cls.read, cls.faults):
            held.clear()
        cls.pseudo_dirs[:] = [""]

    def _fail(self, method, path):
        fault = self.faults.get((method, self._strip_protocol(path)))
        if fault is not None:
            raise fault

    def info(self, path, **kwargs):
        self._fail("info", path)
        return super().info(path, **kwargs)

    def ls(self, path, detail=True, **kwargs):
        self._fail("ls", path)
        return super().ls(path, detail=detail, **kwargs)

    def cat_file(self, path, start=None, end=None, **kwargs):
        self._fail("cat_file", path)
        data = super().cat_file(path, start, end, **kwargs)
        name = self._strip_protocol(path)
        self.read[name] = self.read.get(name, 0) + len(data)
        return data
