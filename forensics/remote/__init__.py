"""Run directories that lie elsewhere: an fsspec address in place of a path.

``s3://``, ``gs://``, ``hf://`` and ``memory://`` alike. `locate` gives what the readers and openers
take for a `pathlib.Path`, and `RemoteFile` reads ranges without opening the whole. Whatever a store
answers when something is wrong comes out as an `OSError` whose ``strerror`` says it in one line.
"""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.remote._addresses import is_remote as is_remote
    from forensics.remote._addresses import locate as locate
    from forensics.remote._files import BLOCK as BLOCK
    from forensics.remote._files import RemoteFile as RemoteFile
    from forensics.remote._paths import RemotePath as RemotePath
    from forensics.remote._paths import RemoteStat as RemoteStat

__getattr__ = on_use(
    __name__,
    {
        "_addresses": ("is_remote", "locate"),
        "_files": ("BLOCK", "RemoteFile"),
        "_paths": ("RemotePath", "RemoteStat"),
    },
)
