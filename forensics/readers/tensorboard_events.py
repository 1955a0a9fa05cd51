"""TensorBoard event files: ``events.out.tfevents.<time>.<host>…``, also as ``.gz``.

Scalars of both encodings (a plain number; a tensor of the ``scalars`` plugin) become series in the
order in which they were written: points that TensorBoard would drop after a restart are kept, for
they are often the divergence that made somebody roll back. Texts and hparams become settings.

Every checksum is verified. A damaged record costs itself alone, and one note says what was lost.
"""

import struct
import zlib
from pathlib import PurePosixPath

import numpy as np

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._event_file.chain import HEADER
from forensics.readers._event_file.collect import Collected, Tagged, collect
from forensics.readers._event_file.crc32c import masked_crc
from forensics.readers._event_file.framing import Span
from forensics.readers._event_file.stream import GZIP_MAGIC
from forensics.run import Axis, Note, Series

_VERSION = b"brain.Event:"
_KERAS_FOLDERS = frozenset({"train", "validation"})
_SHOWN = 3  # damaged places that a note spells out
_UNPACKED = 4096  # bytes of an archive's content that tell what it is


def sniff(probe: Probe) -> bool:
    """By the first record, which names the format; by name too, where the head is damaged."""
    head = _unpacked_head(probe)
    if _begins_with_version(head):
        return True
    name = probe.path.name
    named = "tfevents" in name and not name.endswith(".profile-empty")
    return named and (not head or b"\0" in head)


def _unpacked_head(probe: Probe) -> bytes:
    if not probe.head.startswith(GZIP_MAGIC):
        return probe.head
    try:
        return zlib.decompressobj(wbits=31).decompress(probe.head, _UNPACKED)
    except zlib.error:
        return b""


def _begins_with_version(head: bytes) -> bool:
    if len(head) < HEADER:
        return False
    length, crc = struct.unpack_from("<QI", head)
    return crc == masked_crc(head[:8]) and _VERSION in head[HEADER : HEADER + length]


def read(probe: Probe, progress: Progress) -> Reading:
    """Every scalar and setting of one file.

    Raises:
        UnreadableFile: The file may not be read, or no record of it is intact.
    """
    try:
        found = collect(probe.path, progress)
    except OSError as error:
        raise UnreadableFile(f"{probe.source}: {error.strerror or error}") from error
    if probe.size and not found.records:
        raise UnreadableFile(f"{probe.source}: no intact record in {probe.size:,} bytes")
    notes = [Note(text, probe.source) for text in _remarks(found)]
    return Reading(
        series=tuple(_series(tagged, probe.source) for tagged in found.scalars),
        settings=found.settings,
        notes=tuple(notes),
        summary="" if found.scalars else f"no scalars, {found.records:,} records",
    )


def _series(tagged: Tagged, source: str) -> Series:
    return Series(
        tag=tagged.tag,
        step=tagged.step,
        value=tagged.value,
        source=source,
        wall_time=tagged.wall_time if tagged.wall_time.any() else None,
        axis=_axis(tagged, source),
    )


def _axis(tagged: Tagged, source: str) -> Axis:
    """What the writer passed as the step, as far as the tag tells."""
    tag = tagged.tag
    if tag.startswith("Train/Samples/") or tag.endswith((" vs samples", " vs tokens")):
        return Axis.SAMPLES  # DeepSpeed; Megatron
    if tag.startswith("epoch_"):  # Keras numbers its epochs; others may give the step
        in_keras_folder = PurePosixPath(source).parent.name in _KERAS_FOLDERS
        if in_keras_folder or bool((np.diff(tagged.step) == 1).all()):
            return Axis.EPOCH
    return Axis.STEP


def _remarks(found: Collected) -> list[str]:
    """What the user should know about the file, a sentence each."""
    remarks = []
    if not found.records:
        remarks.append("empty: nothing was ever written to it")
    elif found.records == 1 and not found.scalars and not found.lost:
        remarks.append("holds a file header, but no events")
    if found.lost:
        remarks.append(_damage(found.lost))
    if found.broken_archive:
        remarks.append("the archive is damaged or cut short; what precedes that was read")
    if found.foreign:
        remarks.append(f"{found.foreign:,} records are no events and were skipped")
    return remarks


def _damage(lost: tuple[Span, ...]) -> str:
    """All the damage of a file in one sentence."""
    places = _joined([span for span in lost if not span.cut])
    cut = sum(span.end - span.begin for span in lost if span.cut)
    said = []
    if places:
        total = sum(span.end - span.begin for span in places)
        shown = ", ".join(f"{span.begin:,}-{span.end:,}" for span in places[:_SHOWN])
        more = f" and {len(places) - _SHOWN:,} more" if len(places) > _SHOWN else ""
        said.append(f"damaged records skipped: bytes {shown}{more} ({total:,} bytes in all)")
    if cut:
        said.append(f"the last record is cut short ({cut:,} bytes)")
    return "; ".join(said)


def _joined(spans: list[Span]) -> list[Span]:
    """Spans in file order, neighbours made one."""
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1].end == span.begin:
            joined[-1] = Span(joined[-1].begin, span.end)
        else:
            joined.append(span)
    return joined


READER = Reader(name="TensorBoard events", order=10, sniff=sniff, read=read)
