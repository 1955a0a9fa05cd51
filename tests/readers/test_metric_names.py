"""Metrics named after classes: a loss is a loss, and only what is the better the higher a score."""

import pytest

from forensics.signals import Signal, classify, mean_of


@pytest.mark.parametrize(
    "tag",
    [
        "metrics/eval/LanguageCrossEntropy",
        "metrics/eval/LanguagePerplexity",
        "metrics/train/MulticlassAccuracy",
        "metrics/rmse",
        "metrics/latency",
        "valid_best_loss",
        "lr-SGD-momentum",
        "lr-SGD/pg1-momentum",
    ],
)
def test_what_is_no_score_of_the_validation_is_not_read_as_one(tag: str) -> None:
    assert classify(tag) not in (Signal.EVAL_ACCURACY, Signal.LR)


@pytest.mark.parametrize(
    ("tag", "signal"),
    [
        ("metrics/train/LanguageCrossEntropy", Signal.TRAIN_LOSS),
        ("metrics/eval/c4/LanguageCrossEntropy", Signal.EVAL_LOSS),
        ("metrics/train/LanguagePerplexity", Signal.TRAIN_ERROR),
        ("metrics/eval/LanguagePerplexity", Signal.EVAL_ERROR),
        ("metrics/train/MulticlassAccuracy", Signal.TRAIN_ACCURACY),
        ("metrics/eval/MulticlassAccuracy", Signal.EVAL_ACCURACY),
        ("metrics/eval/BinaryF1Score", Signal.EVAL_ACCURACY),
        ("metrics/mAP50-95(B)", Signal.EVAL_ACCURACY),
        ("metrics/lambada/0-shot/InContextLearningLMAccuracy", Signal.EVAL_ACCURACY),
        ("lr-DecoupledAdamW/group0", Signal.LR),
        ("lr-SGD/pg1", Signal.LR),
        ("lr-Adam", Signal.LR),
        ("optim0_lr0", Signal.LR),
        ("l2_norm/grad/global", Signal.GRAD_NORM),
        ("l2_norm/grad/decoder.weight", Signal.GRAD_NORM_PARAM),
        ("train/total_loss/avg", Signal.TRAIN_LOSS_EPOCH),
        ("val/total_loss/avg", Signal.EVAL_LOSS),
        ("train/vqa/logit_bce", Signal.LOSS_COMPONENT),
    ],
)
def test_names_say_what_was_measured_and_on_what(tag: str, signal: Signal) -> None:
    assert classify(tag) is signal


def test_a_mean_names_what_it_is_the_mean_of() -> None:
    assert mean_of("train/total_loss") == ""
    assert mean_of("train/total_loss/avg") == "train/total_loss"
    assert mean_of("loss_cls (avg)") == "loss_cls"
