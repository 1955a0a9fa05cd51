"""The notebook runs from top to bottom and is kept without its outputs."""

import json
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient executes the notebook")
nbformat = pytest.importorskip("nbformat", reason="nbformat reads the notebook")
pytest.importorskip("ipykernel", reason="ipykernel is the kernel that executes it")

HOME = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(HOME.glob("*.ipynb"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Kernel settings and history away from the user's, and this interpreter as the kernel."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("PYTHONPATH", str(HOME.parent))


def execute(path, **resources):
    from ipykernel.kernelspec import make_ipkernel_cmd
    from jupyter_client.manager import AsyncKernelManager

    class ThisInterpreter(AsyncKernelManager):
        """Starts the interpreter of the tests, whatever kernels are registered."""

        def format_kernel_cmd(self, extra_arguments=None):
            return [
                part.format(connection_file=self.connection_file) for part in make_ipkernel_cmd()
            ]

    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_manager_class=ThisInterpreter,
        resources={"metadata": {"path": str(path.parent)}},
    )
    return client.execute()


def text_of(notebook) -> str:
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", [])]
    return "\n".join(json.dumps(output) for output in outputs)


def test_there_is_one():
    assert [path.name for path in NOTEBOOKS] == ["explore_failed_run.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_are_not_kept(path):
    cells = nbformat.read(path, as_version=4).cells
    assert not [c for c in cells if c.get("outputs") or c.get("execution_count")]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_runs(path, here):
    shown = text_of(execute(path))
    assert "onset at step" in shown
    assert "image/png" in shown, "the figure is drawn"
    assert "short_k = 3" in shown
