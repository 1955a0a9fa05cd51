from forensics.causes import rank
from forensics.findings import Change, Outcome
from forensics.run import Config, TextKind
from forensics.signals import Signal
from tests.causes.cases import healthy_case, make_case
from tests.causes.shapes import falling, probability, spiked_once, steady, winner


def test_a_batch_of_ordinary_length_is_not_too_long():
    case = spiked_once(tracks={Signal.SEQ_LEN: steady(512, noise=0.01)})
    assert probability(case, "overlong_sequence") < 0.02


def test_a_warning_alone_does_not_make_a_healthy_run_fail():
    assert winner(healthy_case(text=[TextKind.SEQUENCE_TOO_LONG])) == "no_failure"


def test_the_longest_batch_of_all_at_the_spike_is_too_long():
    length = steady(512, noise=0.01)
    length[149] = 4096
    assert winner(spiked_once(tracks={Signal.SEQ_LEN: length})) == "overlong_sequence"


def test_an_index_error_after_a_warning_decides_and_the_length_is_lowered():
    case = make_case(
        falling(),
        outcome=Outcome.CRASHED,
        onset=200,
        text=[TextKind.SEQUENCE_TOO_LONG, TextKind.INDEX_OUT_OF_RANGE],
        config=Config(seq_len=2048, raw={"model.max_position_embeddings": 1024}),
    )
    assert winner(case) == "overlong_sequence"
    assert rank(case)[0][0].changes == (Change("seq_len", 2048, 1024),)
