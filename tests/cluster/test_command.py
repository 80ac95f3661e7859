"""The command `count --scheduler`: files read by workers, and workers that fail."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest

from terrain_physics import count_touching
from terrain_physics.counter import command
from terrain_physics.counter.cluster import partitions, ranges
from terrain_physics.counter.cluster import run as cluster
from tests.counter import data_sets
from tests.counter.command import count
from tests.helpers.extras import library

dask = library("dask", "dask")
distributed = library("distributed", "dask")
pa = library("pyarrow", "dask")
pq = library("pyarrow.parquet", "dask")
pytestmark = [pytest.mark.cluster, pytest.mark.alone]


def rows(table):
    return "".join(" ".join(map(repr, row)) + "\n" for row in table.tolist())


def lines(counts):
    return "".join(f"{number}\n" for number in counts.tolist())


def write_parquet(file, what, table, size):
    columns = dict(zip(partitions.COLUMNS[what], table.T, strict=True))
    pq.write_table(pa.table(columns), file, row_group_size=size)


@pytest.fixture(scope="module")
def problem(tmp_path_factory):
    """Return a folder with a problem in all forms, and the answer."""
    folder = tmp_path_factory.mktemp("problem")
    triangles, spheres = data_sets.clustered_large(700, 200.0)
    (folder / "t1.txt").write_text(rows(triangles[:300]))
    (folder / "t2.txt").write_bytes(
        gzip.compress(rows(triangles[300:500]).encode())
        + gzip.compress(rows(triangles[500:]).encode())
    )
    (folder / "t.txt").write_text(rows(triangles))
    (folder / "s.txt").write_text(rows(spheres))
    (folder / "s.parquet").mkdir()
    write_parquet(folder / "s.parquet" / "0.parquet", "spheres", spheres[:400], 150)
    write_parquet(folder / "s.parquet" / "1.parquet", "spheres", spheres[400:], 1000)
    write_parquet(folder / "t.parquet", "triangles", triangles, 200)
    counts = count_touching(triangles, spheres)
    assert counts.any()
    return folder, counts


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    monkeypatch.setattr(partitions, "_PARTITION_SIZE", 5000)
    monkeypatch.setattr(ranges, "RANGE_ROWS", 200)


def on(client, *arguments):
    return count("--scheduler", client.scheduler.address, *arguments)


@pytest.mark.parametrize("triangles", ["t.txt", "t.parquet", "t[12].txt"])
@pytest.mark.parametrize("spheres", ["s.txt", "s.parquet"])
def test_every_form_gives_the_counts_of_one_process(two_workers, problem, triangles, spheres):
    folder, counts = problem
    outcome = on(two_workers, "--triangles", folder / triangles, "--spheres", folder / spheres)
    assert outcome == (0, lines(counts), "")


def test_a_cluster_of_its_own(problem):
    folder, counts = problem
    outcome = count(
        "--scheduler", "local:1", "--stats",
        "--triangles", folder / "t1.txt", folder / "t2.txt", "--spheres", folder / "s.txt",
    )  # fmt: skip
    assert (outcome.status, outcome.out) == (0, lines(counts)), outcome.err
    assert "n 700, q 700, block pairs " in outcome.err


def test_parts_of_parquet(two_workers, problem, tmp_path):
    folder, counts = problem
    where = "--triangles", folder / "t.txt", "--spheres", folder / "s.parquet"
    assert on(two_workers, *where, "--out", tmp_path / "counts") == (0, "", "")
    files = sorted((tmp_path / "counts").iterdir())
    assert [file.name for file in files] == [f"part-{k:06}.parquet" for k in range(4)]
    found = np.concatenate([pq.read_table(file)["count"].to_numpy() for file in files])
    np.testing.assert_array_equal(found, counts)
    again = on(two_workers, *where, "--out", tmp_path / "counts")
    assert (again.status, again.out) == (2, ""), again.err
    assert "counts: it exists already" in again.err
    assert sorted(tmp_path.iterdir()) == [tmp_path / "counts"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [("old", "it exists already"), ("no/counts", "No such file or directory")],
)
def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_read(
    problem, tmp_path, name, reason
):
    folder, _ = problem
    (tmp_path / "old").mkdir()
    nowhere = "--scheduler", "tcp://127.0.0.1:9"  # not asked
    where = "--triangles", folder / "t.txt", "--spheres", folder / "s.txt"
    outcome = count(*nowhere, *where, "--out", tmp_path / name)
    message = f"terrain-physics: cannot write {tmp_path / name}: {reason}\n"
    assert outcome == (2, "", message)
    assert list(tmp_path.iterdir()) == [tmp_path / "old"]


def test_no_input_is_replaced_by_parts(problem, tmp_path, capsys):
    folder, _ = problem
    where = "--triangles", folder / "t.txt", "--spheres", folder / "s.parquet"
    (tmp_path / "link").symlink_to(folder / "s.parquet")
    for out in (folder / "s.parquet", tmp_path / "link"):
        with pytest.raises(SystemExit) as ended:
            count("--scheduler", "local", *where, "--out", out)
        assert ended.value.code == 2
    assert (folder / "s.parquet").is_dir()


def test_what_is_done_is_shown_on_a_terminal(two_workers, problem, monkeypatch):
    folder, counts = problem
    monkeypatch.setattr(command, "_PATIENCE", -1.0)
    monkeypatch.setattr(cluster, "_LOOK", 0.01)
    outcome = count(
        "--scheduler", two_workers.scheduler.address,
        "--triangles", folder / "t.txt", "--spheres", folder / "s.txt", terminal=True,
    )  # fmt: skip
    assert (outcome.status, outcome.out) == (0, lines(counts)), outcome.err
    steps = "waiting for workers", "sampling triangles", "reading triangles and spheres", "counting"
    places = [outcome.err.index(step) for step in steps]
    assert places == sorted(places)
    assert "/700 " in outcome.err[places[-1] :]


class _Hindering:
    """Is told of progress, and keeps the thread that talks with the scheduler busy for a while."""

    def __init__(self, client):
        self.client, self.looks = client, 0

    def begin(self, step, total, unit):
        pass

    def advance(self, done):
        self.looks += not done
        self.client.loop.add_callback(time.sleep, 0.001 * (self.looks % 4))


def test_a_look_that_comes_at_any_moment_takes_nothing_from_who_waits(two_workers, monkeypatch):
    monkeypatch.setattr(cluster, "_LOOK", 0.002)
    hindering = _Hindering(two_workers)
    workers = cluster._ClusterWorkers(two_workers, 60.0, hindering)
    values = [dask.delayed(abs)(-number) for number in range(100)]
    assert list(workers.results(values)) == list(range(100))
    assert hindering.looks > 0


def test_a_cluster_of_its_own_is_for_this_machine_only():
    psutil = library("psutil", "dask")
    with cluster._cluster("local:1"):
        this = psutil.Process()
        listening = {
            connection.laddr.ip
            for process in (this, *this.children(recursive=True))
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        }
    assert listening == {"127.0.0.1"}


def limit_files(size):
    """Let this process write no more than some bytes to a file, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))


def test_a_disk_of_workers_is_full(two_workers, problem, tmp_path, monkeypatch):
    folder, counts = problem
    where = "--triangles", folder / "t.txt", "--spheres", folder / "s.txt"
    try:
        # Triangles that are shuffled are written to disk.
        for reason, parts in {"cannot write {}: ": 2048, "the cluster failed: ": 0}.items():
            monkeypatch.setattr(ranges, "_MOST_PARTS", parts)
            two_workers.run(limit_files, 100)
            outcome = on(two_workers, *where, "--out", tmp_path / "counts")
            assert (outcome.status, outcome.out) == (2, ""), outcome.err
            assert outcome.err.startswith("terrain-physics: " + reason.format(tmp_path / "counts"))
            assert "File too large" in outcome.err
            assert outcome.err.count("\n") == 1
            assert not list(tmp_path.iterdir())
    finally:
        two_workers.run(limit_files, None)
    assert on(two_workers, *where).out == lines(counts)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no full device")
def test_the_disk_where_counts_wait_is_full(two_workers, problem, monkeypatch):
    folder, _ = problem
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: full)
        outcome = on(two_workers, "--triangles", folder / "t.txt", "--spheres", folder / "s.txt")
    assert (outcome.status, outcome.out) == (2, ""), outcome.err
    assert "cannot keep the counts in " in outcome.err
    assert "No space left on device" in outcome.err


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda text: text.replace("\n", " x\n", 650).replace(" x\n", "\n", 649),
            ":650: expected a",
        ),
        (lambda text: f"{text}1 2", ":701: the input ends after 2 of the 4 numbers of a row"),
        (lambda text: text.replace("\n", "\n\n", 1) + "-1 0 0 0\n", ":702: a radius must be >= 0"),
        (lambda text: text.replace(" ", "\n"), "a line must hold whole rows where workers share"),
    ],
)
def test_bad_text_is_named_with_its_line(two_workers, problem, tmp_path, spoil, message):
    folder, _ = problem
    bad = tmp_path / "bad.txt"
    bad.write_text(spoil((folder / "s.txt").read_text()))
    outcome = on(
        two_workers,
        "--triangles", folder / "t.txt", "--spheres", folder / "s.txt", bad,
        "--out", tmp_path / "counts",
    )  # fmt: skip
    assert (outcome.status, outcome.out) == (2, ""), outcome.err
    assert outcome.err.startswith(str(bad))
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == [bad]


def test_bad_parquet_is_named_with_its_row(two_workers, problem, tmp_path):
    folder, _ = problem
    spheres = np.ones((50, 4))
    spheres[33, 2] = np.nan
    write_parquet(tmp_path / "nan.parquet", "spheres", spheres, 20)
    write_parquet(tmp_path / "negative.parquet", "spheres", -spheres[:30], 20)
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "nan.parquet").read_bytes()[:-30])
    for name, message in {
        "nan": "row 33, column y: must be a finite number, got nan",
        "negative": "row 0, column r: must be a radius >= 0, got -1.0",
        "cut": "must be a Parquet file, and whole",
        "missing": "no such file, and no pattern that any matches",
    }.items():
        file = tmp_path / f"{name}.parquet"
        outcome = on(two_workers, "--triangles", folder / "t.txt", "--spheres", file)
        assert (outcome.status, outcome.out) == (2, ""), outcome.err
        assert outcome.err.startswith(f"{file}: {message}")
    outcome = on(two_workers, "--triangles", folder / "s.parquet", "--spheres", folder / "s.txt")
    assert "must have the columns ax ay az bx by bz cx cy cz, lacks ax" in outcome.err


@pytest.fixture
def answering():
    """Return a function that returns an address that answers any visitor with something odd."""
    with ExitStack() as kept:

        def answer(listening, content):
            with suppress(OSError):
                connection, _ = listening.accept()
                kept.enter_context(connection).sendall(content)

        def listen(content):
            listening = kept.enter_context(socket.create_server(("127.0.0.1", 0)))
            threading.Thread(target=answer, args=[listening, content], daemon=True).start()
            return f"tcp://127.0.0.1:{listening.getsockname()[1]}"

        yield listen


def test_a_scheduler_that_is_not_there(two_workers, problem, answering):
    folder, _ = problem
    worker = next(iter(two_workers.scheduler_info()["workers"]))
    for address, reason in {
        "tcp://127.0.0.1:9": "",
        answering(b""): "TimeoutError",
        answering(b"HTTP/1.1 400 Bad Request\r\n\r\n"): "MemoryError",
        worker: "this is the address of a Worker",
        "tls://127.0.0.1:9": "TLS expects",
        "bogus://here": "unknown address scheme 'bogus'",
    }.items():
        seconds = 1 if reason in {"", "TimeoutError"} else 60  # for an answer to come
        outcome = count(
            "--scheduler", address, "--worker-timeout", seconds,
            "--triangles", folder / "t.txt", "--spheres", folder / "s.txt",
        )  # fmt: skip
        assert (outcome.status, outcome.out) == (2, ""), outcome.err
        assert f"no workers at {address} within {seconds} s: " in outcome.err
        assert reason in outcome.err
        assert outcome.err.count("\n") == 1


@pytest.fixture(scope="module")
def long_problem(tmp_path_factory):
    """Return a folder with a problem that takes a worker a few seconds, and the answer."""
    folder = tmp_path_factory.mktemp("long")
    triangles, spheres = data_sets.clustered_large(60_000, 300.0)
    write_parquet(folder / "t.parquet", "triangles", triangles, 8000)
    write_parquet(folder / "s.parquet", "spheres", spheres, 8000)
    return folder, count_touching(triangles, spheres)


def disturbed(folder, workers, disturb, *options):
    """Count on a cluster; as soon as workers are at work, do something to one."""
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as local,
        distributed.Client(local, set_as_default=False) as client,
    ):
        processes = list(client.run(os.getpid).values())
        is_over, is_disturbed = threading.Event(), threading.Event()

        def wait_and_disturb():
            while not any(client.processing().values()):
                if is_over.wait(0.01):
                    return
            time.sleep(0.2)
            disturb(processes)
            is_disturbed.set()

        thread = threading.Thread(target=wait_and_disturb)
        thread.start()
        files = "--triangles", folder / "t.parquet", "--spheres", folder / "s.parquet"
        try:
            outcome = on(client, *files, *options)
        finally:
            is_over.set()
            thread.join()
        assert is_disturbed.is_set(), outcome
        for process in processes:
            if Path(f"/proc/{process}").exists():
                os.kill(process, signal.SIGKILL)
    return outcome


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_is_killed_or_stopped(long_problem, monkeypatch, how):
    monkeypatch.setattr(ranges, "RANGE_ROWS", 8000)
    folder, counts = long_problem
    outcome = disturbed(
        folder, 2, lambda processes: os.kill(processes[0], how), "--worker-timeout", 60
    )
    assert outcome == (0, lines(counts), "")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_all_workers_are_stopped(long_problem, monkeypatch, tmp_path):
    monkeypatch.setattr(ranges, "RANGE_ROWS", 8000)
    outcome = disturbed(
        long_problem[0],
        1,
        lambda processes: os.kill(processes[0], signal.SIGSTOP),
        *("--worker-timeout", 20, "--out", tmp_path / "counts"),
    )
    assert (outcome.status, outcome.out) == (2, ""), outcome.err
    assert "no worker was heard of for 20 s" in outcome.err
    assert not list(tmp_path.iterdir())


@pytest.fixture
def by_hand(tmp_path):
    """Yield the address of a scheduler and a worker that were started by hand, and its process."""
    file = tmp_path / "scheduler.json"

    def start(*arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--scheduler-file", file, "--no-dashboard"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
    worker = start("worker", "--nthreads", "1", "--no-nanny")
    try:
        while not file.exists():
            assert scheduler.poll() is None
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"], scheduler
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def at_work(address, folder, *options):
    """Start the command as a process; return it when a worker is at work for it."""
    started = subprocess.Popen(
        [sys.executable, "-m", "terrain_physics", "count", "--scheduler", address,
         "--triangles", folder / "t.parquet", "--spheres", folder / "s.parquet", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    with distributed.Client(address, set_as_default=False) as client:
        while not any(client.processing().values()) and started.poll() is None:
            time.sleep(0.01)
    return started


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("SIGKILL", "the cluster failed: "),
        ("SIGSTOP", "the scheduler was not heard of for 20 s"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_the_scheduler_is_killed_or_stopped(by_hand, long_problem, tmp_path, how, message):
    address, scheduler = by_hand
    files = set(tmp_path.iterdir())
    options = "--worker-timeout", "20", "--out", tmp_path / "counts"
    started = at_work(address, long_problem[0], *options)
    scheduler.send_signal(getattr(signal, how))
    out, err = started.communicate(timeout=900)
    assert (started.returncode, out) == (2, b""), err
    assert err.decode().startswith(f"terrain-physics: {message}")
    assert err.count(b"\n") == 1
    assert set(tmp_path.iterdir()) == files


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM that a program can handle")
def test_a_command_that_is_terminated_leaves_nothing(by_hand, long_problem, tmp_path):
    address, _ = by_hand
    files = set(tmp_path.iterdir())
    started = at_work(address, long_problem[0], "--out", tmp_path / "counts")
    started.terminate()
    assert started.communicate(timeout=900) == (b"", b"")
    assert started.returncode == 143
    assert set(tmp_path.iterdir()) == files


def test_what_is_missing_is_named(monkeypatch, problem):
    folder, _ = problem
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    outcome = count(
        "--scheduler", "local", "--triangles", folder / "t.txt", "--spheres", folder / "s.txt"
    )
    assert (outcome.status, outcome.out) == (2, ""), outcome.err
    assert "needs what pip install 'terrain-physics[dask]' brings" in outcome.err


def test_nobody_is_silent_in_a_cluster_that_works(two_workers):
    left = two_workers.run_on_scheduler(cluster._without_silent, patience=60.0)
    assert left == 2
