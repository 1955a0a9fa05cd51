import pytest

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def shelf():
    """The store behind ``shelf://``, empty before and after."""
    from tests.remote.shelf import Shelf

    fsspec.register_implementation("shelf", Shelf, clobber=True)
    Shelf.clear()
    yield fsspec.filesystem("shelf")
    Shelf.clear()


@pytest.fixture
def memory():
    """The memory file system, empty before and after."""
    system = fsspec.filesystem("memory")
    yield system
    if system.store:
        system.rm("/", recursive=True)


@pytest.fixture
def upload():
    """Copies a folder into a store."""

    def copy(folder, system, target):
        for file in folder.rglob("*"):
            if file.is_file():
                system.pipe_file(f"/{target}/{file.relative_to(folder)}", file.read_bytes())

    return copy
