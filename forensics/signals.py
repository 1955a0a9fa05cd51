"""Canonical quantities and the tags under which frameworks log them.

The one place that knows names. ``classify`` maps a raw tag to a `Signal`; what it does not know
is `Signal.OTHER`, and what is known to carry nothing for a diagnosis is `Signal.IGNORED`.
"""

import re
from enum import StrEnum
from functools import cache, lru_cache


class Signal(StrEnum):
    """A quantity that a training run logs."""

    TRAIN_LOSS = "train_loss"
    TRAIN_LOSS_EPOCH = "train_loss_epoch"  # mean over an epoch or the run
    LOSS_COMPONENT = "loss_component"
    EVAL_LOSS = "eval_loss"
    LR = "lr"
    GRAD_NORM = "grad_norm"  # before clipping, global L2
    GRAD_NORM_CLIPPED = "grad_norm_clipped"
    GRAD_NORM_PARAM = "grad_norm_param"  # one parameter or group
    LOSS_SCALE = "loss_scale"
    SKIPPED_STEPS = "skipped_steps"
    NAN_ITERATIONS = "nan_iterations"
    CLIP_FRACTION = "clip_fraction"
    PARAM_NORM = "param_norm"
    UPDATE_RATIO = "update_ratio"
    ACTIVATION = "activation"  # a norm or a maximum of activations or attention logits
    ZERO_GRADS = "zero_grads"
    TRAIN_ACCURACY = "train_accuracy"
    EVAL_ACCURACY = "eval_accuracy"  # higher is better
    EVAL_ERROR = "eval_error"  # lower is better (WER, perplexity, error rate)
    TRAIN_ERROR = "train_error"
    REWARD = "reward"
    RL = "rl"  # other quantities that only reinforcement learning logs
    EPOCH = "epoch"
    STEP = "step"
    TOKENS = "tokens"
    SAMPLES = "samples"
    SPEED = "speed"
    STEP_TIME = "step_time"
    WALL_TIME = "wall_time"
    MEMORY = "memory"
    BATCH_SIZE = "batch_size"
    SEQ_LEN = "seq_len"
    TOTAL_STEPS = "total_steps"
    OTHER = "other"
    IGNORED = "ignored"


def normalise(tag: str) -> str:
    """Lower-case a tag and collapse separators: ``Train/CE Loss`` -> ``train/ce_loss``."""
    tag = re.sub(r"[\s.\-]+", "_", tag.strip().lower())
    return re.sub(r"_*/_*", "/", re.sub(r"__+", "_", tag)).strip("_/:")


# One pattern per line, first match wins; matched against the whole normalised tag.
_TRAIN = (
    r"(?:train|training|train_inner|trainer|metrics?|learning|losses|loss_metrics|"
    r"lm_loss_training|train/samples)"
)
_EVAL = r"(?:eval|val|valid|validation|test|dev|validation_metrics|evaluation)"
_LOSS = (
    r"(?:loss|total_loss|lm_loss|ce_loss|cross_?entropy(?:_?loss)?|xent|nll(?:_loss)?|"
    r"ctc_loss|mse(?:_loss)?|mean_squared_error|l1_loss|mae_loss|bce(?:_loss)?|kl_loss|objective|cost|pretrain_loss|"
    r"sft_loss|lossf)"
)
_OBJECTIVE = (
    r"(?:neg(?:ative)?_?elbo|nelbo|neg(?:ative)?_log_(?:likelihood|prob)|bits(?:_per_|/)dim|bpd|free_energy|energy|"
    r"criterion|negll)"
)
"""What else is minimised; the loss of a run that logs none by that name."""
_DISTANCE = (
    r"(?:rmse|mae|mape|smape|msle|rmsle|mean_absolute(?:_percentage)?_error|"
    r"root_mean_squared?_error|mean_squared_logarithmic_error)"
)
"""How far predictions lie from what they should be: where nothing else is, the loss itself."""
_MEAN = r"(?:(?:global_|running_|window_|moving_)?(?:avg|mean|average)|smooth(?:ed)?|ema)"
_SCORE = (
    r"(?:\w*acc(?:uracy)?|top|\w*f\d?(?:_?score)?|\w*score|m?ap|m?iou|dice|(?:\w*_)?au(?:c|roc|prc)|bleu|rouge\w*|"
    r"meteor|em|exact_?match|mcc|\w*corr\w*|pearson\w*|spearman\w*|r2|psnr|ssim|kappa|n?dcg|mrr|hits?|precision|"
    r"recall|similarity|pass|win_rate)"
)
"""What is the better the higher it is."""
_PATTERNS: tuple[tuple[str, Signal], ...] = (
    (
        r".*_vs_(?:samples|tokens|steps|gradient_steps)|hp_metric|total_flos|.*runtime|eta(?:_seconds)?|wall|gb_free|"
        r"percentage|elapsed_time.*|remaining_time|data_time|data|.*num_examples|preemption_count|"
        r"(?:avg_)?(?:batch|reader)_cost|score|total_duration|accumulated_.*|_runtime|seed|step_avg|avg|train_wall|"
        r".*(?:steps|samples|iterations)_per_second|version|sample_generation|"
        r"time/(?:iterations|episodes|time_elapsed)",
        Signal.IGNORED,
    ),
    (
        r"(?!(?:.*_)?(?:ms|s|secs?|time|tok\w*|it|samples|im(?:a?ge?)?s?|frames|ex\w*)/(?:s|sec|second|batch|step|it|iter)$)"
        r"(?:.*/)?(?:_?step|global_steps?|iterations?|iters?|it|current_steps?|num_updates|updates?|"
        r"trainer/global_step|(?:total_|num_)?timesteps|global_step/max_steps|step_idx|batch_idx|batch|"
        r"(?:opt|optimizer|train|training)_steps?|training_iteration|n_iter|s)",
        Signal.STEP,
    ),
    (r"(?:.*/)?(?:total_steps?|max_steps|total_iters|max_iters)", Signal.TOTAL_STEPS),
    (r"(?:.*/)?(?:epoch|epochs|current_epoch|ep)", Signal.EPOCH),
    (r"(?:_?timestamp|wall_?time(?:_sec)?|time_stamp|date_?time|relative_time)", Signal.WALL_TIME),
    (r".*(?:skipped_(?:iterations|steps|samples)|step_skipped|skipped)", Signal.SKIPPED_STEPS),
    (r".*(?:nan_(?:iters|iterations|count)|number_of_nan_iterations)", Signal.NAN_ITERATIONS),
    (
        r".*(?:loss_scale|grad_scaler|amp_scale|scaler_scale|scaler/scale|\[metric\]grad_scaler|"
        r"attempted_loss_scale|grad_scale)",
        Signal.LOSS_SCALE,
    ),
    (
        r".*(?:post_?clip|clipped|after_clip).*(?:grad|norm).*|.*(?:grad|norm).*(?:post_?clip|clipped|after_clip).*|"
        r"learning/grad_norm",
        Signal.GRAD_NORM_CLIPPED,
    ),
    (
        r"(?!train/clip_fraction$)(?:.*/)?(?:clip_frac(?:tion)?|clip_rate|clipped_fraction|frac_clipped)|clip",
        Signal.CLIP_FRACTION,
    ),
    (
        r"(?:.*/)?(?:total_|global_|raw_|pre_clip_|preclip_|mean_)?(?:grad(?:ient)?s?_?(?:2_0_|l2_)?norm|gnorm|norm_grad)"
        r"(?:_(?:total|pre_?clip|global|before_clip|unclipped|l2|2_0_total))?|grad_2_0_norm_total|gradnorm|"
        r"(?:.*/)?l2_grad|l2_norm/grad/global|norm|gn|(?:train/)?(?:grads?|g_norm|\|\|?(?:g|grad)\|\|?)",
        Signal.GRAD_NORM,
    ),
    (
        r"(?:grad(?:ient)?s?(?:_\d+_\d+)?(?:_norm)?|grad_norms?|layer_grad.*|l2_norm/grad)/.+|.*grad_norm.*/.+|"
        r".*/grad_norm/.+|.*grad(?:ient)?_?norm_.+",
        Signal.GRAD_NORM_PARAM,
    ),
    (
        r".*(?:update_ratio|update_to_weight.*|relative_update|update_norm_ratio)",
        Signal.UPDATE_RATIO,
    ),
    (r"(?:.*/)?(?:params?_norm|weight_norm|l2_params?|model_norm)", Signal.PARAM_NORM),
    (
        r".*(?:attn_logits?|attention_logits?|max_logit|qk_max|activation|act_norm|logit_norm|max_attn|"
        r"output_logits?|logits?_(?:level|mean|max|abs|rms)|log_?z_mean).*",
        Signal.ACTIVATION,
    ),
    (r".*(?:num_zeros(?:_in_grad)?|zero_grads?)", Signal.ZERO_GRADS),
    (
        r"(?:.*/)?(?:lr|learning_rate|lrate|learningrate|current_learning_rate|epoch_learning_rate)"
        r"(?:[_/]?(?:pg|group_?|param_group_?)?\d+|_\(group_\d+\)|/(?:pg)?\w+|_group\d+)?|"
        r"lr_(?!.*(?:momentum|weight_decay))\w+(?:/(?:pg|(?:param_)?group_?)\d+)?|optim\d+_lr\d+|train_lr|optim/lr.*|"
        r"x/lr\d+|optim/learning_rate.*",
        Signal.LR,
    ),
    (
        r".*(?:num_input_tokens_seen|num_tokens|n_tokens_seen|tokens_seen|total_tokens(?:_processed)?|"
        r"consumed_tokens|tokens/total|tokens/trainable|total_tokens_seen|tokens)",
        Signal.TOKENS,
    ),
    (r".*(?:consumed_samples|global_samples|samples_seen|num_samples|samples)", Signal.SAMPLES),
    (
        r".*(?:tok(?:en)?s?_?(?:/|per)_?s(?:ec(?:ond)?)?(?:_per_gpu)?|throughput.*|samples_per_sec(?:ond)?|tps|wps|ups|"
        r"tflops?|mfu.*|it/s|fps|tok/s|.*samplespersec|train_speed.*|perf/.*|"
        r"(?:samples|im(?:a?ge?)?s?|frames|ex\w*)(?:/|_per_)s(?:ec(?:ond)?)?)",
        Signal.SPEED,
    ),
    (
        r".*(?:elapsed_time_per_iteration.*|iteration_time|step_time|train_step_timing.*|last_time|"
        r"time_per_step|train_time|batch_time|(?:ms|s|secs?|time)/(?:batch|step|it|iter)|time)|(?:.*[/_])?dt|t",
        Signal.STEP_TIME,
    ),
    (r".*(?:memory.*|max_mem|gpu_mem.*|memallocated|vram.*|mem)", Signal.MEMORY),
    (r".*(?:global_batch_size|batch_size|bsz|wpb)", Signal.BATCH_SIZE),
    (r".*(?:seq(?:uence)?_?len(?:gth)?|actual_seqlen)", Signal.SEQ_LEN),
    (
        r"(?:.*/)?(?:reward(?:s?/.*|_.*)?|ep_rew_mean|mean_reward|(?:avg|average)_reward|episode_reward.*|"
        r"returns?|ep_return|episodic_return|episode_return.*)",
        Signal.REWARD,
    ),
    (
        r"train/clip_fraction|losses/clipfrac|(?:.*/)?(?:kl|approx_kl|entropy(?:_loss)?|clip_ratio.*|completions?/.*|completion_length|frac_reward.*|"
        r"policy_(?:gradient_)?loss|value_loss|explained_variance|ep_len_mean|pg_loss|vf_loss)|rollout/.*|actor/.*|"
        r"critic/.*|rewards?_.*",
        Signal.RL,
    ),
    (  # the extremes of a loss, over ranks or so far, are not the loss
        rf"(?:.*/)?(?:{_EVAL}_)?(?:global_)?(?:max|min|best|lowest|highest)_(?:(?:train|val(?:id)?|validation|eval|test|avg|mean)_)*loss|"
        r"(?:.*/)?(?:(?:train|val(?:id)?|eval|test)_)?loss_(?:max|min|best|std)",
        Signal.OTHER,
    ),
    # validation quantities; several data sets: eval_<set>_loss
    (
        rf"{_EVAL}(?:/|_)(?:.+(?:/|_))?(?:acc(?:uracy)?\d?|top_?[15]|acc@?\d|prec@\d|pixacc|f1.*|map.*|ap\d*|bleu|rouge.*|auc|auroc|miou|"
        rf"iou|dice|ssim|psnr|r2|precision.*|recall.*|exact_match|em|mcc|pearson.*|spearman.*)(?:_epoch)?",
        Signal.EVAL_ACCURACY,
    ),
    (
        rf"{_EVAL}(?:/|_)(?:.+(?:/|_))?(?:wer|cer|ppl|perplexity|err(?:or)?(?:_rate)?|bpb|bpc|{_DISTANCE}|fid|loss_ppl)|"
        r"(?:lm_loss_validation/)?lm_loss_validation_ppl|lm_loss_ppl",
        Signal.EVAL_ERROR,
    ),
    (
        rf"(?:avg_|average_|mean_)?{_EVAL}(?:/|_|:)?(?:samples/)?(?:(?:step|epoch)[/_])?{_LOSS}(?:_(?:epoch|step|mean|avg)|/{_MEAN})?(?:/dataloader_idx_\d+)?|"
        rf"{_EVAL}(?:/|_).+(?:/|_){_LOSS}(?:/dataloader_idx_\d+)?|{_LOSS}[_/]{_EVAL}|lm_loss_value|(?:lm_loss_validation/)?lm_loss_validation|evaluation_loss_vs_iterations|tel|"
        rf"epoch_val_loss|train/samples/eval_loss|{_TRAIN}/{_EVAL}_{_LOSS}",
        Signal.EVAL_LOSS,
    ),
    (r"metrics/(?:precision|recall)(?:\(\w\))?", Signal.OTHER),  # of a detector, at one threshold
    (r"(?:ema_)?pseudo_dice(?:/\d+)?", Signal.EVAL_ACCURACY),
    (
        rf"metrics/(?!.*loss)(?:.*[^a-z])?{_SCORE}(?:[^a-z].*)?|pixacc|miou|coco/.*|bbox/.*|segm/.*|fitness|hellaswag.*",
        Signal.EVAL_ACCURACY,
    ),
    # training quantities
    (
        rf"(?:{_TRAIN}[/_])?(?:mean_token_)?(?:acc(?:uracy)?@?\d?|prec@\d|(?:acc/)?top_?[15](?:_acc(?:uracy)?)?|masked_accuracy|"
        rf"(?:next_)?(?:tok(?:en)?|seq(?:uence)?|char|word|sent(?:ence)?|mlm|frame|pixel|node)_acc(?:uracy)?|"
        rf"categorical_accuracy|binary_accuracy|sparse_categorical_accuracy)(?:_step|_epoch)?|"
        rf"epoch_(?:\w+_)?accuracy|{_TRAIN}(?:/|_)(?:bleu|ssim|f1|auc|acc.*)",
        Signal.TRAIN_ACCURACY,
    ),
    (
        rf"(?:{_TRAIN}[/_])?(?:wer|cer|ppl|perplexity|err(?:or)?(?:_rate)?|bpb|{_DISTANCE})(?:_epoch)?",
        Signal.TRAIN_ERROR,
    ),
    (
        rf"{_TRAIN}[/_]{_LOSS}_epoch|epoch_{_LOSS}|{_LOSS}_epoch|epoch_{_TRAIN}_loss|avg_epoch_loss|"
        rf"(?:avg_|average_|mean_)?(?:{_TRAIN}[/_])?{_LOSS}(?:_\((?:avg|run_mean|epoch_mean)\)|/{_MEAN})",
        Signal.TRAIN_LOSS_EPOCH,
    ),
    (
        rf"(?:avg_|average_|mean_)?(?:{_TRAIN}[/_])?(?:batch_|running_|reduced_train_|mean_|avg_|average_|step_|smoothed_|iter_|minibatch_)?{_LOSS}"
        rf"(?:_step|_mean|_avg|_value)?|{_LOSS}/{_TRAIN}(?:/total)?|loss_metrics/global_avg_loss|trl|reduced_train_loss|"
        rf"{_TRAIN}/samples/train_loss|train/samples/train_loss|train/{_TRAIN}_loss|{_TRAIN}_{_LOSS}_step|trloss|tr_loss",
        Signal.TRAIN_LOSS,
    ),
    (
        rf".*loss.*|train(?:/\w+)+[/_]{_LOSS}(?:/{_MEAN})?|(?:{_TRAIN}[/_])?(?:\w+_nll|kl_?div(?:ergence)?|kld|kl_term)",
        Signal.LOSS_COMPONENT,
    ),
    (rf"(?:{_TRAIN}[/_]|(?:avg|average|mean)_)?{_OBJECTIVE}", Signal.LOSS_COMPONENT),
    (rf"{_EVAL}[/_]{_OBJECTIVE}", Signal.EVAL_LOSS),
)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], Signal], ...]:
    """The patterns, compiled when the first tag is looked at: half of all commands see none."""
    return tuple((re.compile(pattern), signal) for pattern, signal in _PATTERNS)


@lru_cache(maxsize=8192)
def classify(tag: str) -> Signal:
    """Map a raw tag to the quantity it most likely is, by its name alone."""
    name = _plain_metric(without_unit(normalise(tag)))
    for pattern, signal in _compiled():
        if pattern.fullmatch(name):
            return signal
    return Signal.OTHER


_OF_A_PART = re.compile(rf"metrics?/(?=(?:train(?:ing)?|{_EVAL})[/_])")
_CLASS_NAME = re.compile(
    r"(?:language|masked|multiclass|multilabel|binary|incontextlearning(?:lm|qa)?)"
    r"(?=(?:crossentropy|perplexity|accuracy|f1score|auroc|precision|recall)$)"
)


def _plain_metric(name: str) -> str:
    """``metrics/eval/languagecrossentropy`` -> ``eval/crossentropy``: classes of torchmetrics."""
    head, slash, last = _OF_A_PART.sub("", name).rpartition("/")
    return f"{head}{slash}{_CLASS_NAME.sub('', last)}"


_SI = r"[kmgtnuµ]?(?:wh?|v|a|ev|hz|pa|j|g|l|mol|bar|px|m|s|b)"
_UNITS = (
    rf"(?:{_SI}|deg_?[cfk]?|[cfk]|pct|percent|%|usd|eur|gbp|db|px|pixels?|mph|kmh|kn|kts|kcal|hartree|bohr|"
    r"ang(?:strom)?|pp[mb]|mmhg|years?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|cm|inch|ft|mgdl)"
)
_POWER = r"(?:[\^*]{0,2}[23²³])?"
_MEASURED_IN = re.compile(
    rf"(?P<name>(?:.*[/_])?(?:mse|{_DISTANCE}))_(?!\w$){_UNITS}{_POWER}(?:_per_{_UNITS}{_POWER})?|"
    rf"(?P<bracketed>(?:.*[/_])?(?:mse|loss|error|{_DISTANCE}))_?"
    rf"[\[(]{_UNITS}{_POWER}(?:(?:_per_|/){_UNITS}{_POWER})?[\])]"
)


def without_unit(name: str) -> str:
    """Take the unit off a normalised name: ``val_mse_mw2`` and ``val_mse_[mw^2]`` -> ``val_mse``.

    Without brackets only an error has a unit, of two letters or more: ``loss_g`` is a generator's,
    ``mse_x`` a coordinate's.
    """
    found = _MEASURED_IN.fullmatch(name)
    return (found["name"] or found["bracketed"]).rstrip("_") if found else name


_OPPONENT = (
    r"(?:.*[/_])?(?:{0})(?:\d|_[ab])?(?:[/_](?:loss|real|fake|gan|adv|total|cost|err)\w*)+|"
    r"(?:.*[/_])?(?:loss|err|cost)(?:es)?[/_]?(?:{0})(?:[/_]\w+)?"
)
_DISCRIMINATOR = re.compile(_OPPONENT.format(r"d|disc|discriminator|critic|netd"))
_GENERATOR = re.compile(_OPPONENT.format(r"g|gen|generator|netg"))


def adversary_of(tag: str) -> str:
    """``D`` or ``G`` for a loss of a discriminator or a generator, '' for any other quantity."""
    name = normalise(tag)
    if _DISCRIMINATOR.fullmatch(name):
        return "D"
    return "G" if _GENERATOR.fullmatch(name) else ""


def names_objective(tag: str) -> bool:
    """True for the name of what is minimised that does not say loss: ``neg_elbo``, ``energy``."""
    return re.fullmatch(rf"(?:.*[/_])?{_OBJECTIVE}", normalise(tag)) is not None


_METRIC = re.compile(
    r"(?:.*[^a-z])?(?:[lm]ae|l1|mse|mean_squared_error|bce|ce|kl|nll|ctc|xent|\w*cross_?entropy(?:loss)?|"
    rf"reconstruction|recon|{_DISTANCE})(?:_loss)?(?:[^a-z].*)?"
)


def names_measure(tag: str) -> bool:
    """True for a loss named after what it measures (``mse``, ``nll_loss``), not just as the loss.

    Where the plain loss is logged beside it, it is a metric or a part of that loss.
    """
    return _METRIC.fullmatch(normalise(tag)) is not None


_MEAN_OF = re.compile(rf"(?P<whole>.+?)(?:/{_MEAN}|_\((?:avg|run_mean)\))")


def mean_of(tag: str) -> str:
    """The normalised name whose mean over a window this is: ``loss_cls/avg``; '' for no mean."""
    found = _MEAN_OF.fullmatch(normalise(tag))
    return found["whole"] if found else ""


def names_test(tag: str) -> bool:
    """True for a quantity of the test set, which judges a run only where nothing else does."""
    return re.search(r"(?:^|[^a-z])test(?:ing)?(?:[^a-z]|$)", normalise(tag)) is not None


def names_distance(tag: str) -> bool:
    """True for an error that may itself be the loss: ``val_rmse_MW``, ``train/mae``."""
    name = without_unit(normalise(tag))
    return re.search(rf"(?:^|[^a-z]){_DISTANCE}(?:$|[^a-z])", name) is not None


LOWER_IS_BETTER = frozenset(
    {
        Signal.TRAIN_LOSS,
        Signal.TRAIN_LOSS_EPOCH,
        Signal.EVAL_LOSS,
        Signal.EVAL_ERROR,
        Signal.TRAIN_ERROR,
    }
)

_VALIDATION_DIR = r"(?i:(?:^|/)(?:validation|valid|val|eval|test|dev)/[^/]+$)"
_TO_VALIDATION = {
    Signal.TRAIN_LOSS: Signal.EVAL_LOSS,
    Signal.TRAIN_LOSS_EPOCH: Signal.EVAL_LOSS,
    Signal.TRAIN_ACCURACY: Signal.EVAL_ACCURACY,
    Signal.TRAIN_ERROR: Signal.EVAL_ERROR,
}


def signal_of(tag: str, source: str) -> Signal:
    """The quantity behind a tag, by the folder where the name leaves it open.

    Keras and fairseq write the same tag into ``train/`` and into ``validation/``.
    """
    signal = classify(tag)
    if not tag.lower().startswith("train") and re.search(_VALIDATION_DIR, source):
        return _TO_VALIDATION.get(signal, signal)
    return signal
