"""Wrappers put their own names in front of a parameter's; for matching alone these are dropped."""

import re
from collections.abc import Iterable

_WRAPPERS = re.compile(
    r"(?:^|(?<=\.))(?:module|_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module|"
    r"_forward_module|_original_module|base_layer)\."
)
_OUTERMOST = ("base_model.model.", "model.", "student.", "teacher.", "net.", "network.")


def bare(name: str) -> str:
    """The name without the wrappers of parallel training, compilation and recomputation."""
    return _WRAPPERS.sub("", name)


def bare_names(names: Iterable[str]) -> dict[str, str]:
    """Bare name -> name; also without what all names begin with, where no two become alike."""
    own = {bare(name): name for name in names}
    for prefix in _OUTERMOST:
        if own and all(name.startswith(prefix) for name in own):
            return {**{n.removeprefix(prefix): name for n, name in own.items()}, **own}
    return own
