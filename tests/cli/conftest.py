import pytest

from .standin import install


@pytest.fixture(autouse=True)
def model_files(monkeypatch):
    install(monkeypatch)


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
