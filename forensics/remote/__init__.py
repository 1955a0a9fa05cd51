"""Run directories that lie elsewhere: an fsspec address in place of a path.

``s3://``, ``gs://``, ``hf://`` and ``memory://`` alike. `locate` gives what the readers and openers
take for a `pathlib.Path`, and `RemoteFile` reads ranges without opening the whole. Whatever a store
answers when something is wrong comes out as an `OSError` whose ``strerror`` says it in one line.
"""

from forensics.remote._files import BLOCK, RemoteFile
from forensics.remote._paths import RemotePath, RemoteStat, is_remote, locate

__all__ = ["BLOCK", "RemoteFile", "RemotePath", "RemoteStat", "is_remote", "locate"]
