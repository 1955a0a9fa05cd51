import pytest

from forensics.loading.places import Place, bare_name, place_of, series_name, split_of_name


@pytest.mark.parametrize(
    "path",
    [
        "exp1/log.txt",
        "trial/a.csv",
        "2024-01-01/12-00-00/x.log",
        "version_3/metrics.csv",
        "runs/a/e",
    ],
)
def test_folders_of_experiments_are_homes(path):
    home = path.rpartition("/")[0]
    assert place_of(path) == Place(home)


@pytest.mark.parametrize(
    ("path", "home", "bound"),
    [
        ("log.txt", "", False),
        ("exp/logs/log.txt", "exp", False),
        ("exp/lightning_logs/metrics.csv", "exp", False),
        ("exp/checkpoint-500/trainer_state.json", "exp", True),
        ("exp/.hydra/config.yaml", "exp", True),
        ("exp/20240101_101010/vis_data/scalars.json", "exp", True),
        ("exp/20240101_101010/20240101_101010.log", "exp", True),
        ("exp/20240101_101010/other.log", "exp/20240101_101010", False),
        ("exp/attempt_1/0/stdout.log", "exp", True),
        ("exp/logs/train/events.out.tfevents.1", "exp", True),
        ("exp/1796046313.0756721/events.out.tfevents.1", "exp", True),
        ("wandb/run-20240101_101010-abc/files/output.log", "wandb/run-20240101_101010-abc", True),
        ("mlruns/0/abc/metrics/train/loss", "mlruns/0/abc", False),
    ],
)
def test_parts_lead_home(path, home, bound):
    place = place_of(path)
    assert (place.home, place.bound) == (home, bound)


def test_dated_folders_are_attempts_only_for_a_trainer():
    path = "out/runs/Jan01_10-00-00_host/events.out.tfevents.1"
    assert place_of(path).home == "out/runs/Jan01_10-00-00_host"
    assert place_of(path, {"out"}).home == "out"
    assert place_of(path, {"out"}).bound


@pytest.mark.parametrize(
    ("path", "rank"),
    [
        ("log.txt.rank1", 1),
        ("train_rank_2.log", 2),
        ("rank_3/log.txt", 3),
        ("nemo_log_globalrank-4_localrank-0.txt", 4),
        ("attempt_0/5/stderr.log", 5),
        ("lora_rank.log", None),
        ("crank1.log", None),
        ("train.log.1", None),
    ],
)
def test_ranks(path, rank):
    assert place_of(path).rank == rank


def test_splits_in_names():
    assert split_of_name("val_metrics.csv") == "val"
    assert split_of_name("train.log") == "train"
    assert split_of_name("train_val.csv") == split_of_name("evaluate.csv") == ""
    assert place_of("exp/validation/events.out.tfevents.1").split == "val"
    assert place_of("exp/validation/x.csv", splits=False).home == "exp/validation"


def test_restarts_are_called_alike():
    assert series_name("logs/version_0") == series_name("logs/version_12")
    assert series_name("exp_resume") == series_name("exp2")
    assert series_name("a/exp") != series_name("b/exp")
    one, other = "wandb/run-20240101_101010-abc", "wandb/offline-run-20250101_101010-xyz"
    assert series_name(one) == series_name(other)


def test_numbers_in_a_name_are_no_suffix():
    assert bare_name("a/lr0.1.jsonl") == "lr0.1"
    assert bare_name("train.log.json") == "train"
    assert bare_name(".log") == ".log"
