"""`terrain-physics view`: a page, or a clear refusal and nothing written."""

import errno

import numpy as np
import pytest

from terrain_physics import CharacterMovement, HeightMap, Recording, SphereCollider
from terrain_physics import __main__ as command_line
from tests.oracles.clip import clip_of


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    hero = CharacterMovement(HeightMap(np.zeros((3, 3))), SphereCollider(0.5), position=(1, 2, 1))
    recording = Recording(hero)
    for _ in range(30):
        recording.update(1 / 60)
    path = tmp_path_factory.mktemp("recording") / "fall"
    recording.save(path)
    return path


def view(capsys, *arguments):
    status = command_line.run(["view", *map(str, arguments)])
    return status, *capsys.readouterr()


def test_a_page_is_made_of_a_file(file, tmp_path, capsys):
    page = tmp_path / "page.html"
    line = (
        '<iframe src="page.html" title="page" width="960" height="600" loading="lazy"></iframe>\n'
    )
    assert view(capsys, file, "-o", page) == (0, line, "")
    header, streams = clip_of(page.read_text(encoding="utf-8"))
    assert (header["title"], header["samples"]) == ("page", 11)
    assert streams["state"][0][0] == 0
    line = line.replace('title="page"', 'title="A &lt;fall&gt;"')
    assert view(capsys, file, "--output", page, "--title", "A <fall>") == (0, line, "")
    assert clip_of(page.read_text(encoding="utf-8"))[0]["title"] == "A <fall>"
    assert "<title>A &lt;fall&gt;</title>" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "out", "message"),
    [
        ("nothing", "page.html", "nothing: No such file or directory"),
        ("text", "page.html", "text: file must be a recording, undamaged"),
        (".", "page.html", ": must be a regular file, got d"),
        ("fall", "no/page.html", "page.html: No such folder"),
        ("fall", ".", ": Is a folder"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(file, tmp_path, capsys, name, out, message):
    (tmp_path / "text").write_text("no recording")
    (tmp_path / "fall").write_bytes(file.read_bytes())
    status, told, error = view(capsys, tmp_path / name, "-o", tmp_path / out)
    assert (status, told) == (2, "")
    assert error.startswith("terrain-physics: ")
    assert message in error
    assert error.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"text", "fall"}


def test_a_recording_is_not_replaced_by_its_page(file, capsys):
    before = file.read_bytes()
    with pytest.raises(SystemExit) as ended:
        view(capsys, file, "-o", file.parent / "." / file.name)
    assert ended.value.code == 2
    assert "PAGE must be another file than FILE" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_a_recording_without_its_scene_is_refused_by_name(file, tmp_path, capsys, monkeypatch):
    recording = Recording.load(file)
    monkeypatch.setattr(recording, "_start", recording._start._replace(scene=None))
    old = tmp_path / "old"
    recording.save(old)
    status, _, error = view(capsys, old, "-o", tmp_path / "page.html")
    assert status == 2
    assert error.startswith(f"terrain-physics: {old}: recording must hold its scene, got")
    assert list(tmp_path.iterdir()) == [old]


def test_a_page_must_have_a_name(file, capsys):
    with pytest.raises(SystemExit) as ended:
        view(capsys, file, "-o", "")
    assert ended.value.code == 2
    assert "PAGE must be the name of a file" in capsys.readouterr().err


def test_a_full_disk_is_that_of_the_page(file, tmp_path, capsys, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", str(page))

    page = tmp_path / "page.html"
    monkeypatch.setattr(Recording, "save_html", full)
    reason = f"terrain-physics: {page}: No space left on device\n"
    assert view(capsys, file, "-o", page) == (1, "", reason)
