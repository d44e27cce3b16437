"""`noregret compress` writes a picture of a given rank and how much it loses."""

import json
from pathlib import Path

import numpy as np
import pytest

from noregret.evaluation.images import read_image, write_image
from tests.support.command_line import noregret


def draw(path: Path, colours: int = 1) -> np.ndarray:
    """A picture with a few smooth shapes, written to a file."""
    x, y = np.meshgrid(np.linspace(0, 1, 40), np.linspace(0, 1, 30))
    grey = 120 + 60 * np.sin(6 * x) * np.cos(4 * y) + 50 * (x + y > 1)
    picture = grey if colours == 1 else np.stack([grey, 255 - grey, 0.5 * grey], axis=2)
    write_image(str(path), picture)
    return np.asarray(np.rint(picture))


@pytest.mark.parametrize(("suffix", "colours"), [(".pgm", 1), (".ppm", 3), (".png", 1), (".png", 3)])
def test_pictures_come_back_as_they_were_written(tmp_path: Path, suffix: str, colours: int) -> None:
    if suffix == ".png":
        pytest.importorskip("PIL")
    picture = draw(tmp_path / f"one{suffix}", colours)
    assert np.array_equal(read_image(str(tmp_path / f"one{suffix}")), picture)


def test_text_pictures_with_comments_are_read(tmp_path: Path) -> None:
    (tmp_path / "text.pgm").write_text("P2\n# drawn by hand\n3 2\n15\n0 5 15\n15 5 0\n")
    assert read_image(str(tmp_path / "text.pgm")).tolist() == [[0, 85, 255], [255, 85, 0]]


def test_the_picture_and_its_error_curve_are_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = draw(tmp_path / "in.pgm")
    done = noregret("compress", "in.pgm", "--rank", "6", "--curve", "curve.png", "--json", "run.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "run.json").read_text())
    found = read_image(str(tmp_path / "in.svd6.pgm"))
    error = np.linalg.norm(found - picture) / np.linalg.norm(picture)
    assert report["errors"] == sorted(report["errors"], reverse=True)
    assert error == pytest.approx(report["errors"][-1], abs=0.005)
    assert all(0.0 <= best <= one + 1e-12 for best, one in zip(report["best"], report["errors"], strict=True))
    assert report["kept"] == 6 * (30 + 40 + 1)
    assert (tmp_path / "curve.png").stat().st_size > 1000
    assert "best possible" in done.stdout
    assert "written to in.svd6.pgm" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("in.pgm", "--rank", "0"), "rank must be from 1 to 30"),
        (("in.pgm", "--rank", "31"), "rank must be from 1 to 30"),
        (("gone.pgm",), "gone.pgm: the picture cannot be read: No such file"),
        (("cut.pgm",), "cut.pgm: the picture is cut off"),
        (("words.pgm",), "words.pgm: not a PGM or PPM picture"),
        (("in.pgm", "--out", "in.pgm"), "overwrite"),
        (("in.pgm", "--out", "out.xyz"), "not a format of pictures"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    draw(tmp_path / "in.pgm")
    (tmp_path / "cut.pgm").write_bytes(b"P5\n10 10\n255\n123")
    (tmp_path / "words.pgm").write_text("hello")
    done = noregret("compress", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) <= 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut.pgm", "in.pgm", "words.pgm"]
