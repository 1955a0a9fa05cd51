"""Pickles that would run a command, in every place of a checkpoint where there is a pickle."""

import builtins
import importlib
import io
import os
import pickle
import pickletools
import pkgutil
import random
import struct
import subprocess
import sys
import zipfile

import pytest

from forensics import checkpoints, inert_pickle
from forensics.checkpoints import open_checkpoint
from forensics.errors import UnreadableFile
from tests.checkpoints.saves import assert_plain

MAGIC = bytes.fromhex("80028a0a6cfc9c46f9206aa85019")
WATCHED = {
    *("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.remove"),
    *("exec", "compile", "pickle.find_class", "import", "ctypes.dlopen", "shutil.rmtree"),
}
_seen: list = []
_watching: list = []


def _watch(event, arguments):
    if _watching and event in WATCHED:
        _seen.append((event, arguments))


sys.addaudithook(_watch)
"é".encode("raw_unicode_escape")  # imports the codec of protocol 0 before anything is watched


class Call:
    """Pickles as a call of ``function(*arguments)``."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class CallWithState(Call):
    def __reduce__(self):
        return (*self.call, {"__setstate__": Call(os.system, "true")})


def torch_zip(pickled):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/data/0", bytes(64))
        archive.writestr("archive/version", b"3\n")
    return buffer.getvalue()


def legacy(pickled):
    before = b"\x80\x02M\xe9\x03." + b"\x80\x02}q\x00."
    return MAGIC + b"." + before + pickled + b"\x80\x02]q\x00."


def open_watched(path):
    """Open; whatever runs code meanwhile fails the test."""
    _seen.clear()
    _watching.append(True)
    try:
        return open_checkpoint(path)
    except UnreadableFile as error:
        assert_plain(error)
        return None
    finally:
        _watching.clear()
        harmless = {"forensics", "h5py", "numpy"}
        assert not [s for s in _seen if str(s[1][0]).partition(".")[0] not in harmless]


@pytest.fixture(autouse=True)
def warmed(tmp_path):
    """Load what is loaded on use, before anything is watched."""
    for room in (checkpoints, inert_pickle):
        for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            importlib.import_module(module.name)
    (tmp_path / "warm.pt").write_bytes(torch_zip(pickle.dumps({"a": 1}, 2)))
    open_checkpoint(tmp_path / "warm.pt")


@pytest.fixture
def canary(tmp_path):
    return tmp_path / "canary"


def payloads(canary):
    """Name -> object whose unpickling creates the canary."""
    touch, code = f"touch {canary}", f"open({str(canary)!r}, 'w').close()"
    inner = Call(os.system, touch)
    return {
        "os.system": inner,
        "subprocess.Popen": Call(subprocess.Popen, ["touch", str(canary)]),
        "subprocess.call": Call(subprocess.call, ["touch", str(canary)]),
        "exec": Call(builtins.exec, code),
        "eval": Call(builtins.eval, code),
        "mkdir": Call(os.mkdir, str(canary)),
        "getattr": Call(builtins.map, os.system, [touch]),
        "in a state dict": {"model": {"weight": inner, "bias": [inner]}, "epoch": 1},
        "in an optimizer": {"state": {0: {"exp_avg": inner}}, "param_groups": [{"params": inner}]},
        "as a key": {"model": {}, ("deep", (1, 2)): inner},
        "with state": CallWithState(os.system, touch),
        "in the arguments of an allowed name": Call(dict, [("a", inner)]),
        "in an allowed container": Call(list, (inner, inner)),
        "twice": [inner, inner, (inner,)],
        "in a call of a call": Call(Call, inner, Call(os.system, touch)),
    }


@pytest.mark.parametrize("name", list(payloads("x")))
@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_nothing_is_run(tmp_path, canary, name, protocol):
    pickled = pickle.dumps(payloads(canary)[name], protocol)
    for form in (torch_zip, legacy):
        path = tmp_path / f"{form.__name__}.pt"
        path.write_bytes(form(pickled))
        open_watched(path)
        assert not canary.exists()


@pytest.mark.parametrize("name", ["exec", "mkdir", "in a state dict"])
def test_the_payloads_would_work_elsewhere(canary, name):
    pickle.loads(pickle.dumps(payloads(canary)[name]))
    assert canary.exists()


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def programs(canary):
    """Pickles written by hand, as no pickler writes them."""
    touch = f"touch {canary}"
    system = b"cos\nsystem\n"
    argument = text(touch) + b"\x85"
    torch_v2 = b"ctorch._utils\n_rebuild_tensor_v2\n"
    return {
        "inst": b"(" + text(touch) + b"ios\nsystem\n.",
        "obj": b"(" + system + text(touch) + b"o.",
        "newobj": b"\x80\x02" + system + argument + b"\x81.",
        "newobj_ex": b"\x80\x04" + system + argument + b"}\x92.",
        "stack_global": b"\x80\x04" + text("os") + text("system") + b"\x93" + argument + b"R.",
        "memo": system + b"q\x05" + b"0" + b"h\x05" + argument + b"R.",
        "memo overwritten": text("x") + b"q\x01" + system + b"q\x01" + b"h\x01" + argument + b"R.",
        "dup": system + b"2" + argument + b"R.",
        "build": b"cos\nsystem\n)R}" + text("a") + system + argument + b"Rsb.",
        "reconstructor": b"ccopyreg\n_reconstructor\n(" + system + b"cbuiltins\nobject\nNt"
        + b"R" + argument + b"R.",
        "tensor of a call": torch_v2 + b"(" + system + argument + b"R" + b"K\x00))\x89NtR.",
        "persistent call": b"\x80\x02(" + text("storage") + system + argument + b"R"
        + text("0") + text("cpu") + b"K\x01tQ.",
        "persistent line": b"Pos.system\n.",
        "load from bytes": b"ctorch.storage\n_load_from_bytes\n" + b"C"
        + bytes([len(system) + 1]) + system + b".\x85R.",
        "numpy object": b"cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\n" + text("O8")
        + b"K\x00K\x01\x87RC\x0acos\nsystem\n\x86R.",
        "extension": b"\x80\x02\x82\x01.",
        "next buffer": b"\x80\x05\x97.",
        "encode": b"c_codecs\nencode\n" + text(touch) + text("rot13") + b"\x86R.",
        "dotted": b"\x80\x04" + text("os") + text("system.__call__") + b"\x93" + argument + b"R.",
        "attribute": b"cbuiltins\ngetattr\ncos\npath\n" + text("system") + b"\x86R" + argument
        + b"R.",
        "module": b"\x80\x02(" + text("module") + system + text("f") + text("import os") + b"tQ"
        + argument + b"R.",
    }  # fmt: skip


@pytest.mark.parametrize("name", list(programs("x")))
def test_programs_written_by_hand_run_nothing(tmp_path, canary, name):
    for form in (torch_zip, legacy):
        path = tmp_path / f"{form.__name__}.pt"
        path.write_bytes(form(programs(canary)[name]))
        open_watched(path)
        assert not canary.exists()


ARGUMENTS = {
    "uint1": b"\x03", "uint2": b"\x03\x00",
    "int4": b"\x03\x00\x00\x00", "uint4": b"\x03\x00\x00\x00",
    "uint8": b"\x03" + bytes(7), "stringnl": b"'abc'\n", "stringnl_noescape": b"abc\n",
    "stringnl_noescape_pair": b"os\nsystem\n", "unicodestringnl": b"abc\n",
    "string1": b"\x02ab", "string4": b"\x02\x00\x00\x00ab", "bytes1": b"\x02ab",
    "bytes4": b"\x02\x00\x00\x00ab", "bytes8": b"\x02" + bytes(7) + b"ab",
    "bytearray8": b"\x02" + bytes(7) + b"ab", "unicodestring1": b"\x02ab",
    "unicodestring4": b"\x02\x00\x00\x00ab", "unicodestring8": b"\x02" + bytes(7) + b"ab",
    "decimalnl_short": b"12\n", "decimalnl_long": b"12L\n", "floatnl": b"1.5\n",
    "float8": bytes(8), "long1": b"\x02ab", "long4": b"\x02\x00\x00\x00ab",
}  # fmt: skip
"""An argument of each kind that an operation can have."""
STACKS = {
    "empty": b"",
    "values": b"K\x01K\x02K\x03",
    "marked": b"(K\x01K\x02K\x03K\x04",
    "global": b"cos\nsystem\n" + text("true") + b"\x85",
    "marked global": b"(cos\nsystem\n" + text("true"),
    "containers": b"}](}(K\x01K\x02",
}


def encoded(opcode, argument=None):
    own = (
        b"" if opcode.arg is None else ARGUMENTS[opcode.arg.name] if argument is None else argument
    )
    return opcode.code.encode("latin-1") + own


@pytest.mark.parametrize("opcode", pickletools.opcodes, ids=lambda opcode: opcode.name)
def test_every_operation_on_every_stack(tmp_path, opcode):
    path = tmp_path / "x.pt"
    for stack in STACKS.values():
        for form in (torch_zip, legacy):
            path.write_bytes(form(stack + encoded(opcode) + b"."))
            open_watched(path)


@pytest.mark.parametrize(
    "opcode",
    [o for o in pickletools.opcodes if o.arg is not None],
    ids=lambda opcode: opcode.name,
)
def test_an_argument_that_claims_to_be_endless(tmp_path, opcode):
    path = tmp_path / "x.pt"
    for claimed in (b"\xff" * 9, b"\xff\xff\xff\x7f", b"\x00" * 7 + b"\x40", b"", b"abc"):
        path.write_bytes(torch_zip(encoded(opcode, claimed)))
        open_watched(path)


def test_random_programs(tmp_path):
    chance, path = random.Random(7), tmp_path / "x.pt"
    for _ in range(300):
        program = b"".join(encoded(chance.choice(pickletools.opcodes)) for _ in range(40))
        path.write_bytes(torch_zip(program + b"."))
        open_watched(path)


def test_a_container_that_holds_itself(tmp_path):
    around = {"model": {}}
    around["model"]["again"] = around
    around["list"] = [around]
    (tmp_path / "x.pt").write_bytes(torch_zip(pickle.dumps(around, 2)))
    assert open_watched(tmp_path / "x.pt").tensors == ()


def test_containers_nested_without_end(tmp_path):
    for program in (b"]" * 100_000 + b"a" * 99_999 + b".", b"(" * 100_000 + b"l" * 100_000 + b".",
                    b")" + b"\x85" * 100_000 + b"."):  # fmt: skip
        (tmp_path / "x.pt").write_bytes(torch_zip(program))
        opened = open_watched(tmp_path / "x.pt")
        assert opened is None or opened.tensors == ()


def test_a_list_doubled_a_hundred_times(tmp_path):
    program = b"]q\x00" + b"(h\x00h\x00lq\x00" * 100 + b"."
    (tmp_path / "x.pt").write_bytes(torch_zip(program))
    assert open_watched(tmp_path / "x.pt").tensors == ()


@pytest.mark.parametrize("place", [".metadata", "__0_0.distcp"])
def test_the_pickles_of_distributed_saves(tmp_path, canary, place):
    for name, payload in payloads(canary).items():
        pickled = pickle.dumps(payload, 4)
        (tmp_path / "__0_0.distcp").write_bytes(torch_zip(pickle.dumps(0, 2)))
        (tmp_path / place).write_bytes(pickled if place == ".metadata" else torch_zip(pickled))
        open_watched(tmp_path)
        assert not canary.exists(), name
