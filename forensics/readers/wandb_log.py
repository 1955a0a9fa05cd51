"""The log that Weights & Biases keeps of a run on disk: ``wandb/offline-run-…/run-<id>.wandb``.

It holds every row that was logged, with or without a connection, and the settings; an offline run
keeps neither anywhere else. Rows are counted by the step that the script logged
(``train/global_step``) where it did, else by W&B's own ``_step``. wandb is not needed.
"""

from forensics.errors import UnreadableFile
from forensics.readers._base import Probe, Progress, Reader, Reading
from forensics.readers._tables.columns import table_series
from forensics.readers._wandb.framing import HEADER, Frames
from forensics.readers._wandb.messages import Log
from forensics.run import Note, TextEvidence, TextKind

_EXPORT = "wandb sync, then wandb.Api().run(…).scan_history(), gives what the server has of it"


def sniff(probe: Probe) -> bool:
    """By its mark; by its name, where the beginning is lost."""
    return probe.head.startswith(HEADER[:4]) or probe.path.suffix == ".wandb"


def read(probe: Probe, progress: Progress) -> Reading:
    """Read every row and setting; a damaged record costs what is left of its block.

    Raises:
        UnreadableFile: It may not be read, or is of a format yet unknown.
    """
    log = Log()
    if not probe.head.startswith(HEADER):
        raise UnreadableFile(f"{probe.source}: not the known W&B format; {_EXPORT}")
    try:
        with probe.path.open("rb") as file:
            frames = Frames(file)
            for record, nbytes in frames.records():
                log.add(record)
                progress(nbytes)
    except OSError as error:
        raise UnreadableFile(f"{probe.source}: {error.strerror or error}") from error
    series, notes = table_series(log.rows.table(), probe.source, spells_nan=True)
    remarks = [Note(text, probe.source) for text in _remarks(frames, log)]
    return Reading(series, log.settings, _ending(log, probe.source), (*notes, *remarks))


def _remarks(frames: Frames, log: Log) -> list[str]:
    remarks = []
    if frames.damaged or log.foreign:
        lost = frames.damaged + log.foreign
        remarks.append(f"damaged in {lost:,} places; the rest was read. {_EXPORT}")
    if frames.cut:
        remarks.append("ends within a record: up to 32 KiB of the last rows were never written")
    if not log.rows.length:
        remarks.append("holds no rows: nothing was logged, or it never came to disk")
    return remarks


def _ending(log: Log, source: str) -> tuple[TextEvidence, ...]:
    if log.exit_code != 0:
        return ()
    return (TextEvidence(TextKind.RUN_FINISHED, "W&B: the run ended, exit code 0", source, 1),)


READER = Reader("W&B run log", 10, sniff, read)
