"""Files in pieces: however text is cut at line ends, the rows are those of the whole."""

import gzip
import os

import numpy as np
import pytest

from terrain_physics.counter.cluster import partitions
from terrain_physics.counter.text import TextError
from tests.helpers.extras import library

ROWS = np.random.default_rng(8).normal(size=(40, 4)) ** 2
LINES = [" ".join(map(repr, row)) for row in ROWS.tolist()]

TEXTS = {
    "plain": "\n".join(LINES) + "\n",
    "no line end": "\n".join(LINES),
    "Windows": "\r\n".join(LINES) + "\r\n",
    "old Macintosh": "\r".join(LINES),
    "blank lines": "\n \n" + "\n\n\t\n".join(LINES) + "\n\n\n",
    "tabs": "\n".join(LINES).replace(" ", "\t"),
    "mark": "\ufeff" + "\n".join(LINES),
    "two rows a line": "\n".join(
        f"{one} {two}" for one, two in zip(*[iter(LINES)] * 2, strict=True)
    ),
    "one line": " ".join(LINES),
}


def read(name):
    return [
        partitions.read(partition) for partition in partitions.partitions_of("spheres", [str(name)])
    ]


@pytest.mark.parametrize("size", [1, 7, 60, 61, 77, 300, 1 << 20])
@pytest.mark.parametrize("text", TEXTS)
def test_pieces_are_the_whole(tmp_path, monkeypatch, text, size):
    file = tmp_path / "text"
    file.write_bytes(TEXTS[text].encode())
    monkeypatch.setattr(partitions, "_PARTITION_SIZE", size)
    monkeypatch.setattr(partitions, "_SCAN", 100)
    found = read(file)
    assert len(found) == -(-file.stat().st_size // size)
    np.testing.assert_array_equal(np.concatenate(found), ROWS)


@pytest.mark.parametrize("size", [50, 90, 400])
@pytest.mark.parametrize("columns", [1, 2, 3, 5])
def test_lines_that_split_rows_are_refused_or_read_as_they_are(
    tmp_path, monkeypatch, columns, size
):
    numbers = " ".join(LINES).split()
    lines = [numbers[first : first + columns] for first in range(0, len(numbers), columns)]
    file = tmp_path / "text"
    file.write_text("\n".join(map(" ".join, lines)))
    monkeypatch.setattr(partitions, "_PARTITION_SIZE", size)
    with pytest.raises(TextError, match=r"text:[0-9]+: a line must hold whole rows"):
        read(file)
    monkeypatch.setattr(partitions, "_PARTITION_SIZE", 1 << 20)
    np.testing.assert_array_equal(np.concatenate(read(file)), ROWS)


def test_nothing_is_nothing(tmp_path):
    for name, content in {"empty": b"", "spaces": b" \n\n", "packed": gzip.compress(b"")}.items():
        (tmp_path / name).write_bytes(content)
        assert [part.shape for part in read(tmp_path / name)] == [(0, 4)]


def test_patterns_are_in_the_order_of_their_numbers(tmp_path, monkeypatch):
    for number in (0, 1, 2, 10, 11, 100):
        (tmp_path / f"part.{number}.txt").write_text(f"{number} 0 0 0\n")
    found = read(tmp_path / "part.*.txt")
    assert [part[0, 0] for part in found] == [0, 1, 2, 10, 11, 100]
    monkeypatch.chdir(tmp_path)
    parts = partitions.partitions_of("spheres", ["part.2.txt"])
    monkeypatch.chdir("/")  # as a worker may be elsewhere
    assert partitions.read(parts[0])[0, 0] == 2


def test_what_workers_cannot_read_is_refused(tmp_path):
    with pytest.raises(TextError, match=r"^'': no such file"):
        read("")
    with pytest.raises(TextError, match=r"none\*: no such file, and no pattern"):
        read(tmp_path / "none*")
    with pytest.raises(TextError, match=r"must be a file, or a folder that holds \*.parquet"):
        read(tmp_path)
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(TextError, match=r"folder.parquet: must be a regular file"):
        read(tmp_path)
    file = tmp_path / "text"
    file.write_text("1 2 3 4\n")
    parts = partitions.partitions_of("spheres", [str(file)])
    file.unlink()
    with pytest.raises(TextError, match=r"text: a worker cannot read .*text: No such file"):
        partitions.read(parts[0])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no named pipes")
def test_named_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TextError, match="pipe: must be a regular file"):
        read(tmp_path / "pipe")


def test_parquet_is_read_as_it_says(tmp_path):
    pa = library("pyarrow", "data")
    pq = library("pyarrow.parquet", "data")
    columns = dict(zip("rxyz", ROWS.T, strict=True))
    file = tmp_path / "s.parquet"
    pq.write_table(pa.table(columns), file, row_group_size=15, write_page_checksum=True)
    assert [len(part) for part in read(file)] == [15, 15, 10]
    np.testing.assert_array_equal(np.concatenate(read(file)), ROWS)
    damaged = bytearray(file.read_bytes())
    damaged[damaged.index(ROWS[3].tobytes()[:8]) + 2] ^= 1  # a number that stays one
    (tmp_path / "damaged.parquet").write_bytes(damaged)
    with pytest.raises(TextError, match=r"damaged.parquet: the file is damaged: .*(CRC|checksum)"):
        read(tmp_path / "damaged.parquet")
    twice = pa.table([*columns.values(), columns["r"]], names=[*"rxyzr"])
    pq.write_table(twice, tmp_path / "twice.parquet")
    with pytest.raises(TextError, match="must have the columns r x y z, has more than one r"):
        read(tmp_path / "twice.parquet")
