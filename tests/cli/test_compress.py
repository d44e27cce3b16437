"""`noregret compress` writes a picture of a given rank and how much it loses."""

import json
import struct
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.cli import compress
from noregret.evaluation.compress import METHODS
from noregret.evaluation.compress_patches import cut, join, learn_atoms
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


@pytest.mark.parametrize(("suffix", "colours"), [(".pgm", 1), (".ppm", 3)])
def test_a_dictionary_of_patches_makes_the_picture(tmp_path: Path, suffix: str, colours: int) -> None:
    picture = draw(tmp_path / f"in{suffix}", colours)
    arguments = ("--method", "dictionary", "--rank", "3", "--json", "run.json")
    done = noregret("compress", f"in{suffix}", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "run.json").read_text())
    found = read_image(str(tmp_path / f"in.dictionary3{suffix}"))
    assert found.shape == picture.shape  # 30 x 40: the last patches reach beyond the edge
    error = np.linalg.norm(found - picture) / np.linalg.norm(picture)
    assert error == pytest.approx(report["errors"][-1], abs=0.005)
    assert report["errors"] == sorted(report["errors"], reverse=True)
    assert report["best"] is None
    atoms, patches = 64 * colours * (20 // 16), 20 * colours
    assert patches + atoms < report["sizes"][0] <= patches + atoms + 2 * 20
    assert report["kept"] == report["sizes"][-1]
    assert "numbers for" in done.stdout


def test_a_picture_of_one_grey_is_made_of_means(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_image(str(tmp_path / "in.pgm"), np.full((9, 17), 77.0))
    done = noregret("compress", "in.pgm", "--by", "dictionary", "--curve", "curve.png", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (read_image(str(tmp_path / "in.dictionary4.pgm")) == 77.0).all()
    assert (tmp_path / "curve.png").stat().st_size > 1000


def test_a_dictionary_loses_less_than_lines_at_the_same_size() -> None:
    """A picture of many small equal shapes, which no few lines describe."""
    rng = np.random.default_rng(0)
    shapes, picture = 100.0 * rng.random((6, 8, 8)), np.zeros((192, 192))
    for row, column in np.ndindex(24, 24):
        picture[8 * row : 8 * row + 8, 8 * column : 8 * column + 8] = shapes[rng.integers(6)]
    by_patches, by_lines = METHODS["dictionary"](picture, 2), METHODS["svd"](picture, 100)
    same = int(np.searchsorted(by_lines.sizes, by_patches.kept))
    assert by_patches.errors[-1] < 0.5 * by_lines.errors[same]
    atoms = 64 * len(learn_atoms((patches := cut(picture)[:, :, 0]) - patches.mean(axis=1, keepdims=True)))
    assert by_patches.sizes == [576 + atoms + 2 * 576] * 2  # means, atoms, and one atom with its weight for each patch
    np.testing.assert_allclose(join(cut(picture), picture.shape), picture)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("in.pgm", "--rank", "0"), "rank must be from 1 to 30"),
        (("in.pgm", "--rank", "31"), "rank must be from 1 to 30"),
        (("in.pgm", "--method", "dictionary", "--rank", "65"), "rank must be from 1 to 64"),
        (("gone.pgm",), "gone.pgm: the picture cannot be read: No such file"),
        (("cut.pgm",), "cut.pgm: the picture is cut off"),
        (("words.pgm",), "words.pgm: not a PGM or PPM picture"),
        (("in.pgm", "--out", "in.pgm"), "overwrite"),
        (("in.pgm", "--out", "out.xyz"), "out.xyz: the picture cannot be written: .xyz is not a format of pictures"),
        (("in.pgm", "--out", "out"), "a name without an extension is not a format of pictures"),
        (("in.pgm", "--curve", "curve.xyz"), "not a format of pictures"),
        ((".",), ".: the picture cannot be read: "),
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


def test_pictures_that_are_damaged_or_too_large_are_refused_in_one_line(tmp_path: Path) -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    draw(tmp_path / "whole.png", 3)
    whole = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    for name, width in (("vast.png", 60_000), ("large.png", 9_000)):
        head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, width, 8, 2, 0, 0, 0))
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", b"") + chunk(b"IEND", b""))
    for name, why in (("cut.png", "truncated"), ("vast.png", "pixels"), ("large.png", "more than 67,108,864 pixels")):
        with pytest.raises(nr.Error, match=why) as found:
            read_image(str(tmp_path / name))
        assert str(found.value).startswith(f"{tmp_path / name}: the picture cannot be read: ")


def test_pictures_of_pillow_are_read_as_they_look(tmp_path: Path) -> None:
    """16 bits are not cut off at 255, and what is transparent is white."""
    image: Any = pytest.importorskip("PIL.Image")
    grey = np.arange(256).reshape(16, 16)
    image.fromarray((grey * 257).astype(np.uint16)).save(tmp_path / "deep.png")
    assert read_image(str(tmp_path / "deep.png")).tolist() == grey.tolist()
    colours = np.zeros((2, 2, 4), np.uint8)
    colours[0] = [10, 20, 30, 255]
    image.fromarray(colours).save(tmp_path / "holes.png")
    expected = [[[10, 20, 30]] * 2, [[255, 255, 255]] * 2]
    assert read_image(str(tmp_path / "holes.png")).tolist() == expected
    pale = np.array([[[7, 255], [7, 0]]], np.uint8)
    image.fromarray(pale, "LA").save(tmp_path / "pale.png")
    assert read_image(str(tmp_path / "pale.png")).tolist() == [[7, 255]]


def test_a_small_picture_has_as_many_components_as_it_can(tmp_path: Path) -> None:
    (tmp_path / "small.pgm").write_bytes(b"P5 3 2 255\n" + bytes([9, 200, 3, 77, 5, 6]))
    assert noregret("compress", "small.pgm", cwd=tmp_path).returncode == 0
    assert (tmp_path / "small.svd2.pgm").read_bytes() == b"P5\n3 2\n255\n" + bytes([9, 200, 3, 77, 5, 6])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"P2 2 2 15 1 2 x 4", "a value of the picture is 'x', and not a whole number"),
        (b"P2 2 2 15 1 2 nan 4", "a value of the picture is 'nan', and not a whole number"),
        (b"P2 2 2 15 1 2 -3 4", "a value of the picture is '-3', and not a whole number"),
        (b"P2 2 2 15 1 16 3 4", "a value of the picture is 16, and the file says that 15 is the largest"),
        (b"P5 2 2 15\n\x01\x02\x03\x10", "a value of the picture is 16, and the file says that 15 is the largest"),
        (b"P2 2 2 15 1 2 3", "the picture is cut off"),
    ],
)
def test_values_that_no_picture_has_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "in.pgm").write_bytes(content)
    with pytest.raises(nr.BadValue) as found:
        read_image(str(tmp_path / "in.pgm"))
    assert str(found.value) == f"{tmp_path / 'in.pgm'}: {message}"


def test_the_largest_value_is_white(tmp_path: Path) -> None:
    (tmp_path / "text.pgm").write_bytes(b"P2 2 1 15 15 0")
    (tmp_path / "bytes.pgm").write_bytes(b"P5 2 1 15\n\x0f\x00")
    for name in ("text.pgm", "bytes.pgm"):
        assert read_image(str(tmp_path / name)).tolist() == [[255.0, 0.0]]


def test_values_of_pillow_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    image: Any = pytest.importorskip("PIL.Image")
    image.fromarray(np.array([[1.0, np.nan]], np.float32)).save(tmp_path / "in.tiff")
    with pytest.raises(nr.BadValue, match=r"in\.tiff: .*: not every value is a finite number$"):
        read_image(str(tmp_path / "in.tiff"))


@pytest.mark.parametrize("out", ["out.xyz", "out"])
def test_a_format_that_cannot_be_written_is_refused_before_any_work(
    tmp_path: Path, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw(tmp_path / "in.pgm")
    monkeypatch.setattr(compress, "METHODS", {})
    done = noregret("compress", "in.pgm", "--out", out, cwd=tmp_path)
    assert done.returncode == 2
    assert "use .png, .jpg or .pgm" in done.stderr


STAGES = {
    "svd": ["learning the lines", "measuring errors", "finding the best possible errors"],
    "dictionary": ["learning atoms", "choosing atoms", "putting patches together"],
}


@pytest.mark.parametrize("method", METHODS)
def test_it_is_told_what_is_done_and_how_much_of_it(method: str) -> None:
    """Whether somebody listens, and after how many rows, makes no difference."""
    picture = np.random.default_rng(0).integers(256, size=(400, 360)).astype(float)
    told, quiet = list[tuple[str, float]](), METHODS[method](picture, 3)
    watched = METHODS[method](picture, 3, lambda what, done: told.append((what, done)))
    assert watched.picture.tolist() == quiet.picture.tolist()
    assert list(dict(told)) == STAGES[method]
    for stage in STAGES[method]:
        shares = [done for what, done in told if what == stage]
        assert shares[0] == 0.0
        assert shares == sorted(shares)
        assert shares[-1] < 1.0
    assert len(told) > 6


def test_progress_is_shown_while_a_picture_is_compressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every two seconds; here they are short, and the work waits until something has been shown."""
    draw(tmp_path / "in.pgm")
    monkeypatch.setattr(compress, "EVERY", 0.001)
    shown = threading.Event()
    show = compress.Progress.show

    def watched(progress: compress.Progress) -> None:
        show(progress)
        shown.set()

    def wait(picture: Any, rank: int, tell: Any) -> Any:
        tell("learning atoms", 0.25)
        for _ in range(2):  # the first may have begun before
            shown.clear()
            assert shown.wait(30.0)
        return METHODS["svd"](picture, rank)

    monkeypatch.setattr(compress.Progress, "show", watched)
    monkeypatch.setattr(compress, "METHODS", {"dictionary": wait})
    done = noregret("compress", "in.pgm", "--method", "dictionary", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "learning atoms, 25 %, 0:0" in done.stderr
    assert "learning" not in done.stdout


@pytest.mark.parametrize("shape", [(30, 40), (40, 30), (20, 9, 3), (9, 20, 3)])
def test_the_best_possible_errors_are_those_of_the_exact_svd(shape: tuple[int, ...]) -> None:
    picture = np.random.default_rng(0).uniform(0.0, 255.0, shape)
    lines = picture.reshape(shape[0], -1)
    rank = min(lines.shape)
    squares = np.linalg.svd(lines, compute_uv=False) ** 2
    rest = np.append(np.cumsum(squares[::-1])[::-1][1:], 0.0)
    found = METHODS["svd"](picture, rank)
    best = np.array(found.best)
    np.testing.assert_allclose(best, np.sqrt(rest / squares.sum()), atol=1e-7)
    np.testing.assert_allclose(np.array(found.errors), best, atol=1e-7)
