from forensics.advice.pilot import pilot_run
from forensics.findings import Change
from forensics.run import Config
from tests.advice.checkpointed import exploded
from tests.causes.cases import healthy_case, make_case


def test_a_bare_run_still_gets_a_whole_plan():
    plan = pilot_run(make_case(), ())
    assert len(plan) == 6
    assert "warm-up of 100 steps" in plan[0]
    assert not any("None" in instruction or "nan" in instruction for instruction in plan)


def test_the_warm_up_is_never_shortened():
    case = exploded(config=Config(warmup_steps=500, total_steps=20_000, lr_peak=3e-4))
    assert pilot_run(case, ())[0].startswith(
        "Run 900 optimizer steps: the full warm-up of 500 steps"
    )


def test_the_new_rate_is_the_one_to_try():
    plan = pilot_run(exploded(config=Config(lr_peak=1e-3)), (Change("learning_rate", 1e-3, 3e-4),))
    assert "peak learning rate of 3e-4" in plan[0]


def test_it_reaches_past_an_early_failure_and_not_for_a_late_one():
    assert "covers step 151" in pilot_run(exploded(), ())[1]
    late = exploded(onset=151, config=Config(total_steps=100))
    assert "151" in pilot_run(late, ())[1]
    far = make_case(
        [2.0, 1.0, 9.0],
        interval=5000,
        first_step=5000,
        onset=15_000,
        outcome=exploded().judgement.outcome,
    )
    assert "from the last checkpoint before it" in pilot_run(far, ())[1]


def test_samples_and_seed_are_this_runs():
    case = healthy_case(config=Config(micro_batch=4, grad_accum=2, world_size=2, seed=7))
    plan = " ".join(pilot_run(case, ()))
    assert "samples at random" in plan
    assert "seed at 7" in plan
