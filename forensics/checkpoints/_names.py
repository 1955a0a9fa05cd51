"""What the name of a checkpoint says: its step, its epoch, its rank, whether it was finished."""

import re
from dataclasses import dataclass, field

WEIGHTS = (
    *(".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".pth.tar", ".tar", ".h5", ".hdf5"),
    *(".keras", ".npz", ".msgpack", ".gguf", ".nemo", ".pkl", ".distcp", ".zip", ".model"),
)
"""Suffixes under which weights are saved; many other things are saved under them too."""
_WEIGHTS_ONLY = (".safetensors", ".ckpt", ".keras", ".gguf", ".nemo", ".weights.h5", ".distcp")
"""Suffixes under which little else is saved."""

_STEP = (
    r"(?:global[_-]?)?steps?[=_.-]?(\d+)([km]?)(?![a-z\d])",
    r"(?<![\d.])(\d+)()[_-]?(?:steps?|iters?|iterations?|updates?)(?![a-z])",
    r"(?<![a-z])(?:iteration|iter|it|update|batch)s?[=_.-]?(\d+)([km]?)(?![a-z\d])",
    r"^checkpoint_\d+_(\d+)()$",
)
_EPOCH = (
    r"(?<![a-z])(?:epoch|ep)s?[=_.-]?(\d+)(?![\d.])",
    r"(?<![\d.])(\d+)[_-]?epochs?",
    r"^checkpoint_(\d+)_\d+$",
    r"^recovery-(\d+)-\d+$",
    r"[a-z\d][-_.]e(\d{1,6})$",
)
_NUMBERED = (
    r"(?<![a-z])(?:checkpoint|ckpt|chkpt|chk|model|weights|params|state|snapshot|net|opt|optim)"
    r"[-_.=]?(\d+)([km]?)(?![\d.a-z])",
    r"^(\d+)()$",
    r"[-_.](\d{3,})()$",
)
_BARE = re.compile(
    r"^(?!.*(?:fold|seed|rank|part|shard|version|stage|member|head|layer|exp|run|size|dim|patch))"
    r"[a-z][a-z\d_.-]*?[-_.](\d{1,6})(?:[-_.]\d+\.\d+)?$"
)
"""``lstm_07``, ``net-12-0.31``: such an end says when it was saved only beside others alike."""
_EPOCH_FILES = re.compile(r"checkpoint-\d+\.pth(?:\.tar)?|checkpoint\d+\.pt")
"""timm, MAE and fairseq number files by the epoch, where all others number them by the step."""
_SCALE = {"": 1, "k": 1_000, "m": 1_000_000}


@dataclass(frozen=True)
class Named:
    """Position in the training, as far as a name tells it."""

    step: int | None = None
    epoch: int | None = None
    number: int | None = field(default=None, compare=False)
    """What ``step`` is a guess from: a number that does not say what it counts."""


def position(name: str) -> Named:
    """Read the step and the epoch from the name of a file or folder."""
    bare = stem(name)
    step = _number(_STEP, bare)
    epoch = _number(_EPOCH, bare)
    if step is None and epoch is None:
        number = _number(_NUMBERED, bare)
        if number is None:
            last = _BARE.match(bare)
            return Named(number=int(last[1]) if last else None)
        is_epoch = _EPOCH_FILES.fullmatch(name.lower())
        return Named(epoch=number) if is_epoch else Named(number, number=number)
    return Named(step, epoch)


def stem(name: str) -> str:
    """The name in lower case without its suffix, and without what marks an unfinished save."""
    bare = re.sub(r"^tmp[-_]|\.tmp$|[-_]unfinished$|\.orbax-checkpoint-tmp.*$", "", name.lower())
    suffix = next((s for s in sorted(WEIGHTS, key=len, reverse=True) if bare.endswith(s)), "")
    return bare.removesuffix(suffix).removesuffix(".weights")


def _number(patterns: tuple[str, ...], text: str) -> int | None:
    for pattern in patterns:
        found = re.search(pattern, text)
        if found and len(found[1]) <= 15:
            scale = found[2] if found.re.groups > 1 else ""
            return int(found[1]) * _SCALE[scale]
    return None


_UNFINISHED = re.compile(
    r"(?:^|/)tmp[-_.]|\.tmp(?:$|/)|\.part(?:ial)?$|[-_]unfinished(?:$|/)|orbax-checkpoint-tmp|"
    r"\.incomplete$",
    re.IGNORECASE,
)


def is_unfinished(path: str) -> bool:
    """True where the name itself says that saving was under way."""
    return _UNFINISHED.search(path) is not None


_STEP_FOLDER = re.compile(
    r"(?:tmp[-_])?(?:checkpoint|ckpt|chkpt|global_?step|step|iter|iteration|it|epoch|ep|update)s?"
    r"[=_-]?\d+(?:[-_.=]*(?:epoch|ep|step|iter|ckpt|hf|final|val|eval|loss|acc|ppl|rank|tmp|last|"
    r"best|ema|fp32|merged|unfinished|k|[\d.e+-]+))*|\d+\.orbax-checkpoint-tmp.*|.*[-_]step=\d+.*",
    re.IGNORECASE,
)
"""Words may follow the number only where they belong to a save: ``step2_reward_model`` is none."""


def is_step_folder(name: str) -> bool:
    """True for the name of a folder that frameworks make once per save."""
    return _STEP_FOLDER.fullmatch(name) is not None


_COMPANIONS = re.compile(
    r"optim(?:izer)?s?(?:[-_.]\w*|\d*)|opt[-_]?\d*|(?:lr_)?scheduler|sched|scaler|grad_scaler|"
    r"rng_states?(?:_\d+)?|random_states_\d+|rng|sampler(?:_\d+)?|dl_state_dict|training_args|"
    r"custom_checkpoint_\d+|ema[-_.]?[\d.]*[-_]?\d*|.*[-_]optim(?:_states|izer)?|"
    r"(?:train|training|trainer)_state|tokenizer|spiece|sentencepiece|.*_tokenizer|metadata|common",
)


def is_companion(name: str) -> bool:
    """True for optimizer, scheduler, random state and the like, saved beside the weights."""
    return _COMPANIONS.fullmatch(stem(name)) is not None


def companion_position(name: str) -> Named:
    """Place of what lies beside the weights, numbered as they are: ``optimizer_10`` is at 10."""
    named = position(name)
    if named != Named():
        return named
    return position(re.sub(r"^[A-Za-z]+(?=[-_.]?\d)", "model", name))


_MODEL_WORDS = re.compile(
    r"(?:^|[^a-z])(?:checkpoint|ckpt|chkpt|chk|models?|weights?|params?|last|best|final|latest|"
    r"state|snapshot|net|network|epoch|iter|step|crash|adapter|backup|resume|trained|tmp)(?:$|[^a-z])|"
    r"^model|model$"
)
_DATA_WORDS = re.compile(
    r"(?:^|[^a-z])(?:data|datasets?|cached?|tokens?|features|embeddings?|stats|batch|batches|"
    r"completions|predictions|preds|logits|vocab|labels|images|samples|evaluations|results?|"
    r"history|metrics|losses|log)(?:$|[^a-z])"
)
_CHECKPOINT_FOLDERS = re.compile(
    r"checkpoints?|ckpts?|weights|snapshots|saved_models?|models?|trained_models?", re.IGNORECASE
)


_UNSUFFIXED = re.compile(r"(?:[a-z\d]+[-_])*(?:checkpoint|ckpt|chkpt)[-_]?\d+", re.IGNORECASE)
"""What flax calls its files."""
_PART_OF_DATA = re.compile(
    r"(?:^|[^a-z])(?:train|test|val|valid|processed|graphs?|users?|items?|nodes?|edges?|masks?|"
    r"targets?|inputs?|outputs?|x|y|chunks?|splits?|tensors?|frames?|scores?)(?:$|[^a-z])"
)


def may_hold_weights(path: str) -> bool:
    """True where a file's suffix and words speak for weights rather than data."""
    folder, _, name = path.rpartition("/")
    bare = stem(name)
    if _UNSUFFIXED.fullmatch(name):
        return True
    if not name.lower().endswith(WEIGHTS) or _DATA_WORDS.search(bare):
        return False
    if name.lower().endswith(_WEIGHTS_ONLY) or _MODEL_WORDS.search(bare):
        return True
    if position(name) != Named():
        return True
    if name.lower().endswith((".pt", ".pth")) and position(name).number is not None:
        return _PART_OF_DATA.search(bare) is None  # gcn_50.pt
    return _CHECKPOINT_FOLDERS.fullmatch(folder.rpartition("/")[2]) is not None
