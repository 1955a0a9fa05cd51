import pytest

from tests.loading.fakes import Folder


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path)
