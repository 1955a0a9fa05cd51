from forensics.batches import suspect_steps
from forensics.findings import EpisodeKind, Outcome
from tests.causes.cases import healthy_case, make_case, make_episode


def suspects(case):
    return suspect_steps(case.timeline, case.episodes, case.judgement)


def test_a_healthy_run_has_no_suspect():
    assert suspects(healthy_case()) == frozenset()


def test_from_the_last_good_step_to_the_onset():
    case = make_case([2.0] * 20, interval=10, outcome=Outcome.DIVERGED, onset=51)
    assert suspects(case) == set(range(41, 52))


def test_every_spike_has_its_own():
    spikes = [make_episode(EpisodeKind.LOSS_SPIKE, onset) for onset in (30, 80)]
    case = make_case([2.0] * 100, outcome=Outcome.SPIKED_RECOVERED, onset=30, episodes=spikes)
    assert suspects(case) == {29, 30, 79, 80}


def test_of_a_loss_that_stays_nan_only_the_first():
    loss = [2.0] * 50 + [float("nan")] * 50
    case = make_case(loss, outcome=Outcome.NON_FINITE, onset=51)
    assert suspects(case) == {50, 51}


def test_single_nan_losses_each_have_their_own():
    loss = [2.0] * 100
    loss[9] = loss[59] = float("nan")
    assert suspects(make_case(loss)) == {9, 10, 59, 60}


def test_a_process_that_died_did_so_after_its_last_line():
    case = make_case([2.0] * 20, interval=10, outcome=Outcome.CRASHED, onset=191)
    assert {191, 192, 201} <= suspects(case)
