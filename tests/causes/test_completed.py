from dataclasses import replace

import numpy as np

from forensics.causes._completed import completed
from forensics.run import Config, Series, TextEvidence, TextKind
from tests.causes.facts_of import save, scanned, weight


def test_what_the_configuration_says_stays() -> None:
    config = Config(weight_decay=0.1, betas=(0.9, 0.95))
    case = scanned(save(10, betas=((0.9, 0.999),), weight_decay=(0.0, 0.3)), config=config)
    found = completed(case).config
    assert (found.weight_decay, found.betas) == (0.1, (0.9, 0.95))


def test_a_case_without_more_is_the_same() -> None:
    case = scanned()
    assert completed(case) is case


def test_checkpoints_fill_what_is_silent() -> None:
    case = scanned(
        save(10, weight("1.running_var"), eps=(1e-8,), weight_decay=(0.0, 0.3), lr=(1e-3,)),
        save(20, lr=(5e-4,), eps=(1e-8,), weight_decay=(0.0, 0.3)),
    )
    found = completed(case).config
    assert (found.weight_decay, found.eps, found.lr_peak) == (0.3, 1e-8, 1e-3)
    assert found.normalization == "batchnorm"
    assert found.sources["eps"] == "step_20.pt"


def test_a_line_says_where_the_weights_came_from() -> None:
    case = scanned()
    line = TextEvidence(TextKind.PRETRAINED, "fine-tuning from base.pt", "train.log", 1)
    said = replace(case, run=replace(case.run, text=(line,)))
    assert completed(case).config.pretrained is None
    assert completed(said).config.pretrained
    assert completed(said).config.sources["pretrained"] == "train.log"


def test_the_trainer_has_a_default() -> None:
    assert completed(scanned(config=Config(framework="transformers"))).config.optimizer == "adamw"


def test_what_only_the_trainer_logs_tells_it_by_itself() -> None:
    plain = scanned()
    one = Series("train/train_runtime", np.array([10]), np.array([3.5]), "train.log")
    told = replace(plain, run=replace(plain.run, series=(one,)))
    assert completed(told).config.optimizer == "adamw"
    assert completed(plain).config.optimizer is None
