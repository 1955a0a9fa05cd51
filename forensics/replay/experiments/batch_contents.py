"""Is anything odd about what the suspect batch holds?

The batches as the replay file loads them, audited without running the model.
"""

from collections.abc import Iterator

import torch

from forensics.batches import Named, audit
from forensics.replay.batch_store import tensors_in
from forensics.replay.errors import NotDone
from forensics.replay.experiments._base import Experiment, Fields
from forensics.replay.labels import label_name
from forensics.replay.measures import controls_of
from forensics.replay.session import Session


def _run(session: Session) -> Iterator[Fields]:
    suspect = session.suspect
    if suspect is None:
        raise NotDone("nothing went wrong at a step whose batch could be suspect")
    steps = (*controls_of(session, suspect), suspect)
    batches = {step: _named(session.batches.load(step)) for step in steps}
    yield {"audit": audit(batches, {suspect}, session.plan.limits)}


def _named(batch: object) -> Named:
    """The tensors of a batch as arrays; a pair's are called inputs and labels.

    A table of whole numbers that comes alone is one of token ids.
    """
    found = tensors_in(batch)
    if isinstance(batch, torch.Tensor) and batch.dim() == 2 and not batch.is_floating_point():
        found = {"input_ids": batch}
    labels = label_name(batch)
    names = {name: name for name in found}
    if labels == "1" and "0" in found:
        names |= {"0": "inputs", "1": "labels"}
    return {names[name]: _array(tensor).numpy() for name, tensor in found.items()}


def _array(tensor: torch.Tensor) -> torch.Tensor:
    here = tensor.detach().cpu()
    return here.float() if here.dtype in (torch.bfloat16, torch.float16) else here


EXPERIMENT = Experiment("contents of the suspect batch", 21, _run)
