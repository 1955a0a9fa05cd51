"""Lines that prove what a run did: it started, resumed, saved, finished, or failed to restore."""

from forensics.readers._text.rule import Rule, rule
from forensics.run import TextKind

_NOT_DONE = (
    r"(?:could not|couldn't|cannot|failed to|unable to|not) (?:find|load|restor\w*|resum\w*)"
)
_ABSENT = (
    r"[\w :,']{0,30}(?:not (?:found|restored|loaded|saved)|missing|was reset"
    r"|will (?:be )?(?:re-?initiali[sz]ed|start from scratch))"
)
_LOADS = r"\b(?:load(?:ing|ed)|initiali[sz](?:ing|ed)|start(?:ing|ed))\b"
_NO_VALUE = r"(?!\W*(?:none|false|null)\b)"

_OF_A_RUN = r"\S*(?:ckpt|checkpoint|epoch|step|iter|snapshot|state)s?\w*?[-_=./]?\d+"
"""A file that a run saved on its way: weights to start from are not numbered like that."""

_WHAT = (
    r"(?:the )?(?:latest |last |model |weights |training |state )*"
    r"(?:checkpoint |ckpt |snapshot )?(?:from |file )?(?:checkpoint )?"
)
_NOT_TO_TEST = r"(?!.{0,40}\b(?:eval|test|infer)\w*)"

COURSE_RULES: tuple[Rule, ...] = (
    rule(
        TextKind.RESUMED,
        (
            "resum",
            "loaded",
            "loading",
            "continuing training",
            "restor",
            "starting",
        ),
        r"\bresum(?:ing|ed) (?:the )?(?:training |run |model |state )?"
        rf"(?:from|at|epoch|iter|step)\b{_NO_VALUE}",
        rf"\bresumed? (?:from )?checkpoint\b{_NO_VALUE}",
        r"\bresume (?:training )?from (?:checkpoint|epoch|step|iter\w*|/)",
        rf"\bresume[ds]? (?:training )?(?:from|at|with) [^\w\s]?{_OF_A_RUN}",
        rf"\b(?:load(?:ed|ing)|restor(?:ed|ing)) {_WHAT}[^\w\s]?{_OF_A_RUN}{_NOT_TO_TEST}",
        r"loaded checkpoint\b.{0,200}(?:\bepoch\b|iteration|updates|step)",
        r"continuing training from",
        r"restor(?:ing|ed) (?:all )?states? from",
        r"restor(?:ing|ed) (?:from )?checkpoint",
        r"loading model from \S*checkpoint-\d+",
        r"starting training from iteration [1-9]",
    ),
    rule(
        TextKind.SCHEDULER_NOT_RESTORED,
        ("scheduler",),
        rf"{_NOT_DONE}.{{0,40}}scheduler",
        rf"scheduler(?: state)?(?:_dict)?{_ABSENT}",
        r"no scheduler state",
    ),
    rule(
        TextKind.OPTIMIZER_NOT_RESTORED,
        ("optimizer", "optim_state"),
        rf"{_NOT_DONE}.{{0,40}}optimizer",
        rf"optimizer(?: states?)?(?:_dict)?{_ABSENT}",
        r"no optimizer state",
        r"parameter group that doesn't match the size of optimizer's group",
        r"will not load any optimizer",
    ),
    rule(
        TextKind.WEIGHTS_NOT_LOADED,
        ("newly initialized", "missing key", "missing_keys", "size mismatch"),
        r"newly initialized",
        r"Missing key\(s\) in state_dict",
        r"missing[_ ]keys\W{0,4}[\[({]\s*['\"]",
        r"size mismatch for \S+: copying",
    ),
    rule(
        TextKind.PRETRAINED,
        ("tuning from", "tuning the", "retrained", "re-trained"),
        r"\bfine-?tuning (?:from|the (?:pre-?trained )?(?:model|weights|checkpoint))\b",
        rf"{_LOADS}.{{0,40}}\bpre-?trained (?:\w+ )?(?:model|weights|checkpoint|parameters)\b",
    ),
    rule(
        TextKind.GRADIENTS_ABSENT,
        ("requires_grad", "do not exist for variables", "did not receive grad", "not require grad"),
        r"None of the inputs have requires_grad",
        r"Gradients do not exist for variables \[",
        r"Parameter (?:indices )?which did not receive grad",
        r"Parameters which did not receive grad",
        r"element 0 of tensors does not require grad",
    ),
    rule(
        TextKind.SEQUENCE_TOO_LONG,
        ("sequence length is longer",),
        r"sequence length is longer than the specified maximum",
    ),
    rule(
        TextKind.CHECKPOINT_SAVED,
        ("saving", "saved"),
        r"\b(?:saving|saved)\b(?: \w+){0,4} ?\b(?:checkpoint|ckpt|snapshot|model|state)\w*\b"
        + _NO_VALUE,
    ),
    rule(
        TextKind.RUN_FINISHED,
        ("train", "exits", "early", "epochs completed", "time limit", "exiting program"),
        r"\btraining (?:is )?(?:completed?|finished|done)\b(?! for epoch)",
        r"\b(?:finished|completed|done) training\b(?! epoch| for epoch)",
        r"['\"]train_runtime['\"]",
        r"Process \d+ exits successfully",
        r"`max_(?:epochs|steps)=\S+` reached",
        r"^Training time:? \d",
        r"Total training time: \d",
        r"\[after training is done\]",
        r"\d+ epochs completed in",
        r"stopping_early: wallclock_cap",
        r"exiting program (?:at|after) ",
        r"Time limit reached\. Elapsed",
        r"Epoch \d+: early stopping",
        r"\bearly stopp(?:ing|ed)\b.{0,20}(?:triggered|activated|at epoch)",
        r"Signaling Trainer to stop",
    ),
    rule(
        TextKind.RUN_STARTED,
        ("running training", "start training", "starting training", "training started"),
        r"\*{3,} Running training \*{3,}",
        r"^\W*(?:start(?:ing)? (?:the )?training|training started)\b(?! from iteration)",
    ),
)
