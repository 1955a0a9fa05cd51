"""Do the labels sit where the model expects them?

The same outputs against labels moved along the sequence, and against labels in random order. A
pretrained model knows the right place: another shift that scores better is a shift done twice or
not at all. Labels whose order does not matter carry nothing to learn.
"""

from collections.abc import Iterator
from contextlib import nullcontext

import torch

from forensics.replay.batch_store import tensors_in
from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.labels import label_name, permuted, shifted, with_labels
from forensics.replay.session import Session
from forensics.replay_facts import LabelShifts

SHIFTS = (0, -2, -1, 1, 2)
SHORTEST = 8
"""Positions a sequence has at least for a shift to mean anything."""


def _run(session: Session) -> Iterator[Fields]:
    batch = session.batches.load(session.probe_step)
    name = label_name(batch)
    if name is None:
        raise NotDone("the labels could not be told from the rest of the batch")
    labels = tensors_in(batch)[name]
    is_sequence = (
        labels.dim() > 1 and not labels.is_floating_point() and labels.shape[-1] >= SHORTEST
    )
    shifts = SHIFTS if is_sequence else (0,)
    # Early on: what is trained on shifted labels long enough comes to fit them.
    early = session.plan.earlier
    session.begin()
    with nullcontext() if early is None else session.weights_of(early), torch.no_grad():
        losses = {by: float(session.loss_of(with_labels(batch, shifted(by)))) for by in shifts}
        mixed = float(session.loss_of(with_labels(batch, permuted)))
    yield {"shifts": LabelShifts(losses, mixed)}


EXPERIMENT = Experiment("label shifts", 21, _run)
