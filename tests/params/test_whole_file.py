"""Files appear as a whole or not at all, whoever writes them."""

import os
import stat
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import weald
from weald import report
from weald.params.whole_file import whole_file


def test_what_was_there_stays_until_the_new_file_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with whole_file(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"


def test_a_file_that_is_stopped_leaves_nothing(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("new")

    def stop(part):
        part.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), whole_file(path) as part:
        stop(part)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_a_pipe_a_pipe(tmp_path):
    path, link, pipe = tmp_path / "a.txt", tmp_path / "link.txt", tmp_path / "pipe"
    path.write_text("old")
    link.symlink_to(path)
    with whole_file(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with whole_file(pipe) as part:
        part.write_text("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()


def test_rights_are_those_of_a_new_file(tmp_path):
    (tmp_path / "usual").write_text("")
    with whole_file(tmp_path / "a") as part:
        part.unlink()
        part.touch(0o600)
    modes = {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "a")}
    assert len(modes) == 1


def test_errors_name_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "a.txt"
    with pytest.raises(FileNotFoundError) as caught, whole_file(path):
        pass
    assert caught.value.filename == str(path)


def test_a_report_that_fails_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "iris.html"
    path.write_text("old")
    X, y = load_iris(return_X_y=True)
    tree = weald.DecisionTreeClassifier(max_depth=2).fit(X, y)

    def full(self, *rest, **more):
        with self.open("w") as file:
            file.write("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        report.write_report(path, tree, X, y, title="Iris")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
