"""How files begin: blank lines, line ends, other formats by a wrong name, no names."""

import gzip

import pandas as pd
import pytest

from weald.dataset import DataError, open_file, read_training, sources

from .files import columns_of, rows, without_arrow

TEXT = rows("x,c,y", lambda i: i % 7, lambda i: "uvw"[i % 3], lambda i: i * 1.5)


@pytest.mark.parametrize("reader", ["arrow", "python"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("before", ["", "\n", "\n\n", "  \n\n"])
def test_blank_lines_and_line_ends(before, end, reader, tmp_path, monkeypatch):
    if reader == "python":
        without_arrow(monkeypatch)
    path = tmp_path / "t.csv"
    blank = TEXT.replace("\n", "\n\n", 1) + "\n\n"
    path.write_bytes((before + blank).replace("\n", end).encode())
    training = read_training(open_file(str(path)), "y")
    assert columns_of(training) == {
        "x": [i % 7 for i in range(40)],
        "c": ["uvw"[i % 3] for i in range(40)],
    }


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_the_first_accent_may_come_late(ending, encoding, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_SAMPLE", 200)
    monkeypatch.setattr(sources, "_BYTES", 150)
    path = tmp_path / f"t.{ending}"
    text = rows("c,y", lambda i: "Köln" if i % 9 == 8 and i > 170 else "Bonn", float, n=200)
    content = text.encode(encoding)
    path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)
    training = read_training(open_file(str(path)), "y")
    assert training.categories == {"c": ["Bonn", "Köln"]}
    assert training.reading == (("Latin-1 text (not UTF-8)",) if encoding == "latin-1" else ())


def test_files_by_a_wrong_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(gzip.compress(TEXT.encode()))
    with pytest.raises(DataError, match=r"it is packed, so its name should end in .gz"):
        open_file(str(path))
    pd.DataFrame({"x": [1, 2]}).to_parquet(path)
    with pytest.raises(DataError, match=r"it is Parquet, so its name should end in .parquet"):
        open_file(str(path))
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(DataError, match="save the table as CSV"):
        open_file(str(path))
    (tmp_path / "t.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match="save the sheet as CSV"):
        open_file(str(tmp_path / "t.xlsx"))


def test_files_without_names_or_delimiters(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT.partition("\n")[2])
    with pytest.raises(DataError, match=r"holds numbers \(0, u, 0.0\): it must hold the names"):
        read_training(open_file(str(path)), "y")
    path.write_text(TEXT.replace(",", " "))
    with pytest.raises(DataError, match="one column only, called 'x c y': its first line must"):
        read_training(open_file(str(path)), "y")
    path.write_text(TEXT)
    with pytest.raises(DataError, match="Did you mean y"):
        read_training(open_file(str(path)), "Y")
