"""The cache of compiled functions: nothing is run that others could have put there, and nothing in it hangs."""

import os
import stat
import sys
from pathlib import Path

import pytest

from noregret.jit import cache, lock, objects
from tests.attacks.object_files import ASSEMBLY, plant, sound
from tests.attacks.workers import run_attack
from tests.support.processes import in_a_process

pytestmark = pytest.mark.skipif(not objects.supported(), reason="the compiler keeps its own cache here")
OTHER = 12345  # the number of another user
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder in which a function was put; returns its file."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("NOREGRET_CACHE", str(folder))
    plant("asks", "asks", sound())
    folder.chmod(0o700)
    return objects.path_of("asks")


def test_what_is_ours_is_loaded(planted: Path) -> None:
    assert "@asks" in ASSEMBLY
    assert objects.load("asks") is not None


def test_sealed_nonsense_ends_no_process() -> None:
    report = run_attack("object files", "object_files:attack", 100)
    assert report.failures == []
    assert {"loaded", "refused"} == set(report.outcomes)


@pytest.mark.parametrize("code", [b"", b"\x7fELF", b"\0" * 500, os.urandom(3000)])
def test_what_is_no_object_file_is_not_loaded(code: bytes, planted: Path) -> None:
    plant("asks", "asks", code)
    assert objects.load("asks") is None


def test_a_function_that_is_not_in_the_file_is_not_loaded(planted: Path) -> None:
    plant("asks", "other", sound())
    assert objects.load("asks") is None


@as_root
@pytest.mark.parametrize("above", range(4))
def test_files_and_folders_of_another_user_are_not_used(above: int, planted: Path) -> None:
    os.chown([planted, *planted.parents][above], OTHER, OTHER)
    assert objects.load("asks") is None


@pytest.mark.parametrize("mode", [0o777, 0o772, 0o757])
@pytest.mark.parametrize("above", range(3))
def test_folders_that_others_can_write_are_not_used(mode: int, above: int, planted: Path) -> None:
    folder = planted.parents[above]
    before = stat.S_IMODE(folder.stat().st_mode)
    folder.chmod(mode)
    try:
        assert objects.load("asks") is None
        assert "others" in str(cache.find_problem(planted.parent.parent)) or above == 0
        planted.unlink()
        objects.save("asks", "asks", sound())
        assert not planted.exists()
    finally:
        folder.chmod(before)


def test_a_folder_with_the_sticky_bit_is_on_the_way_and_does_no_harm(planted: Path) -> None:
    planted.parent.parent.chmod(0o1777)
    assert objects.load("asks") is not None


def test_a_private_group_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    import grp
    import pwd

    me = pwd.getpwuid(os.geteuid())
    cache.is_own_group.cache_clear()
    for members, name, expected in (([], me.pw_name, True), ([me.pw_name], me.pw_name, True),
                                    (["eve"], me.pw_name, False), ([], "staff", False)):  # fmt: skip
        group = grp.struct_group((name, "x", me.pw_gid, members))
        monkeypatch.setattr(grp, "getgrgid", lambda number, group=group: group)
        assert cache.is_own_group(me.pw_gid) == expected
        cache.is_own_group.cache_clear()
    assert not cache.is_own_group(me.pw_gid + 1)
    cache.is_own_group.cache_clear()


@pytest.mark.parametrize("kind", ["pipe", "link", "loop", "folder", "device"])
def test_only_regular_files_are_read_and_nothing_hangs(kind: str, planted: Path) -> None:
    content = planted.read_bytes()
    planted.unlink()
    if kind == "pipe":
        os.mkfifo(planted)
    elif kind == "folder":
        planted.mkdir()
    else:
        target = {"link": planted.with_suffix(".real"), "loop": planted, "device": Path("/dev/zero")}[kind]
        if kind == "link":
            target.write_bytes(content)
        planted.symlink_to(target)
    assert objects.load("asks") is None


@pytest.mark.parametrize("kind", ["pipe", "link", "folder"])
def test_a_lock_file_that_is_none_is_done_without(kind: str, planted: Path) -> None:
    place = planted.parent.parent / "locks"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/full")
    with lock.exclusive("asks") as held:
        assert not held


def test_a_shared_cache_is_said_once_and_compiled_around(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    code = "from noregret.jit.compiled import warn_if_unwritable\nfor _ in range(2):\n    warn_if_unwritable()"
    told = in_a_process(code, cache=tmp_path / "cache")
    assert len(told.warned) == 1
    assert "can be written by others" in told.warned[0]
    assert str(tmp_path) in told.warned[0]
    assert "a folder of your own" in told.warned[0]
    assert sys.platform != "linux" or not (tmp_path / "cache" / "objects").exists()
