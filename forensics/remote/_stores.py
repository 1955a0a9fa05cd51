"""The store behind an address, and what it answers when something is wrong."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from forensics.errors import UsageError


def file_system(address: str) -> Any:
    """The fsspec file system of an address.

    Raises:
        UsageError: fsspec, or what it needs for this kind of address, is not installed; or there
            is no such kind.
        OSError: The store cannot be reached, or does not let us in.
    """
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise UsageError(
            f"{address}: an address needs fsspec (pip install 'run-forensics[remote]')"
        ) from error
    try:
        with answering(address):
            return url_to_fs(address)[0]
    except ImportError as error:
        kind = address.partition("://")[0]
        raise UsageError(f"{address}: {kind}:// needs a driver ({_line(error)})") from error
    except ValueError as error:
        raise UsageError(f"{address}: {_line(error)}") from error


@contextmanager
def answering(address: str) -> Iterator[None]:
    """Turn what a store raises into an `OSError` with a plain ``strerror`` and the address.

    Drivers raise errors of their own (no credentials, no connection, a time-out of theirs), or
    system errors without a number. What says that the call itself was wrong is let through.
    """
    try:
        yield
    except (ImportError, ValueError):
        raise
    except FileNotFoundError as error:
        missing = os.strerror(errno.ENOENT)
        raise FileNotFoundError(errno.ENOENT, missing, address) from error
    except PermissionError as error:
        refused = f"no permission{_in_brackets(error)}"
        raise PermissionError(errno.EACCES, refused, address) from error
    except TimeoutError as error:
        late = f"no answer in time{_in_brackets(error)}"
        raise TimeoutError(errno.ETIMEDOUT, late, address) from error
    except OSError as error:
        said = error.strerror or _line(error)
        raise OSError(error.errno or errno.EIO, said, address) from error
    except Exception as error:
        said = f"{type(error).__name__}: {_line(error)}"
        raise OSError(errno.EIO, said, address) from error


def _in_brackets(error: OSError) -> str:
    said = error.strerror or _line(error)
    return f" ({said})" if said else ""


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
