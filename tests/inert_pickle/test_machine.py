import io
import pickle
import pickletools
from collections import OrderedDict, defaultdict
from pathlib import PurePosixPath

import pytest

from forensics.errors import UnreadableFile
from forensics.inert_pickle import Global, Inert, load, plain

SAMPLE = {
    "numbers": [1, -2, 2**70, 1.5, True, None],
    "text": ("ü", b"bytes", ""),
    "nested": {"a": {"b": [{}]}},
    "set": {3},
}


def loads(data, **options):
    return load(io.BytesIO(data), **options)


class Called:
    def __reduce__(self):
        return print, ("this must not be printed",)


def test_nothing_is_called_or_imported(capsys):
    made = loads(pickle.dumps(Called()))
    assert isinstance(made, Inert)
    assert made.name == "builtins.print"
    assert capsys.readouterr().out == ""
    assert loads(b"cno_such_module\nThing\n.") == Global("no_such_module.Thing")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_cut_is_an_error_and_never_a_crash(protocol):
    data = pickle.dumps(SAMPLE, protocol)
    for end in range(len(data) - 1):
        with pytest.raises(UnreadableFile):
            loads(data[:end])


@pytest.mark.parametrize(
    "program",
    [
        b".",
        b"0.",
        b"a.",
        b"(t0e.",
        b"}]]s.",
        b"h\x05.",
        b"\x82\x01.",
        b"\x8c\x01",
        b"X\xff\xff\xff\x7fabc.",
        b"\x8e" + b"\xff" * 8 + b"abc.",
        b"}(" + b")" + b"\x85" * 200_000 + b"Nu.",
        b"(dI1\nI2\ns" + b"~.",
    ],
)
def test_a_hostile_program_is_one_plain_error(program):
    with pytest.raises(UnreadableFile):
        loads(program)


def test_work_is_bounded():
    with pytest.raises(UnreadableFile, match="more operations"):
        loads(b"]" * 1000 + b".", max_operations=100)
    many_copies = b"(" + b"N" * 500 + b"lq\x00" + b"cbuiltins\nlist\nh\x00\x85R" * 100 + b"."
    with pytest.raises(UnreadableFile, match="more operations"):
        loads(many_copies, max_operations=5000)


def test_a_memo_with_a_huge_index_allocates_nothing():
    assert loads(b"Nr\xff\xff\xff\x7f.") is None


def test_deep_nesting_and_loops_are_copied_within_bounds():
    endless = loads(b"]q\x00h\x00a.")
    assert plain(endless, max_depth=3) == [[[[None]]]]
    deep = loads(b")" + b"\x85" * 100_000 + b".")
    assert plain(deep, max_depth=1) == [[None]]
    doubling = b"]q\x00" + b"".join(b"0](h\x00h\x00eq\x00" for _ in range(60)) + b"."
    assert plain(loads(doubling), max_depth=100, max_values=1000) is not None


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_containers_come_out_as_they_went_in(protocol):
    made = loads(pickle.dumps(SAMPLE, protocol))
    assert made == {**SAMPLE, "set": [3]}


def test_containers_of_the_standard_library_become_plain():
    counts = defaultdict(int, {"a": 1})
    made = loads(pickle.dumps([OrderedDict(a=1), counts, PurePosixPath("/x/y")], 2))
    assert made[:2] == [{"a": 1}, {"a": 1}]
    assert plain(made[2]) == "/x/y"


def test_known_globals_and_persistent_ids_go_to_the_caller():
    data = pickletools.optimize(pickle.dumps(Called(), 2))
    assert loads(data, constructors={"builtins.print": lambda text: text[:4]}) == "this"
    assert loads(b"(S'storage'\nK\x03tQ.", persistent=lambda pid: pid[1]) == 3


def test_several_pickles_in_one_stream():
    stream = io.BytesIO(pickle.dumps(1) + pickle.dumps("two"))
    assert [load(stream), load(stream)] == [1, "two"]
