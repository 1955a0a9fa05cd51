"""Which file to believe where two disagree: the one written closest to what ran."""

import re

_CLOSENESS: tuple[tuple[int, str], ...] = (
    (4, r"(?:^|.*\.)(?:meta_?data.*|adapter_config)\.(?:json|ya?ml)|config\.json|model.*\.json"),
    (3, r"(?:ds|deepspeed|accelerate|fsdp|zero)[\w.-]*\.(?:json|ya?ml)|zero_?\d.*\.json"),
    (1, r"hparams?\.ya?ml|hparams?\.json|trainer_state\.json|hyper_?parameters\.(?:json|ya?ml)"),
    (0, r"training_args\.(?:bin|json|ya?ml)|args\.(?:json|ya?ml|txt)|cmd[-_]args.*|flags.*\.json"),
    (1, r".*tfevents.*|.*\.(?:log|out|err|txt|wandb)|.*\.log\..*"),
)


def closeness(source: str) -> int:
    """Rank of a file by its path: 0 is written by the process itself, 4 describes the model.

    What the process saved of its own arguments is what ran; what it printed, and a resolved
    configuration beside it, come next; then the file that a person wrote; then that of a library.
    """
    name = source.lower().rpartition("/")[2]
    if "/.hydra/" in f"/{source}" or re.search(r"(?:^|/)wandb/.*/files/config\.ya?ml$", source):
        return 1
    return next((rank for rank, names in _CLOSENESS if re.fullmatch(names, name)), 2)
