"""Tells what the tensors of a save are, whatever its author called them."""

from typing import TYPE_CHECKING

from forensics.front_door import on_use

if TYPE_CHECKING:
    from forensics.checkpoints._contents._assembly import assemble as assemble
    from forensics.checkpoints._contents._assembly import opened as opened
    from forensics.checkpoints._contents._optimizer import read_optimizer as read_optimizer
    from forensics.checkpoints._contents._parts import Model as Model
    from forensics.checkpoints._contents._parts import OptimizerState as OptimizerState
    from forensics.checkpoints._contents._parts import ParamGroup as ParamGroup
    from forensics.checkpoints._contents._parts import Parts as Parts
    from forensics.checkpoints._contents._roles import role_in_model as role_in_model
    from forensics.checkpoints._contents._roles import role_in_optimizer as role_in_optimizer
    from forensics.checkpoints._contents._sorting import sort_out as sort_out

__getattr__ = on_use(
    __name__,
    {
        "_assembly": ("assemble", "opened"),
        "_optimizer": ("read_optimizer",),
        "_parts": ("Model", "OptimizerState", "ParamGroup", "Parts"),
        "_roles": ("role_in_model", "role_in_optimizer"),
        "_sorting": ("sort_out",),
    },
)
