"""Object files of a wheel are used where they fit this machine, and only where nobody else could have written them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from noregret.jit import objects, processor
from noregret.jit.processor import Processor
from tests.attacks.object_files import plant, sound
from tests.support.processes import in_a_process

BASELINE = processor.find_baseline()
pytestmark = pytest.mark.skipif(
    BASELINE is None or not objects.supported() or not processor.has_features(BASELINE),
    reason="no wheel carries object files for this machine",
)

PLAYING = """
from pathlib import Path
from noregret.jit import objects
objects.PREBUILT = Path({folder!r})
import noregret as nr
learner = nr.make("pa1").learn(sp.csr_array(X), Y)
said = learner.scores(X).tolist(), "numba" in sys.modules
"""


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is known of the machine and of the package is found anew, in each test and after it."""
    monkeypatch.delenv("NOREGRET_PREBUILT", raising=False)
    objects.find_prebuilt.cache_clear()
    yield
    objects.find_prebuilt.cache_clear()


@pytest.fixture
def prebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with the object file of one function, and an empty cache; returns the file."""
    assert BASELINE is not None
    monkeypatch.setenv("NOREGRET_CACHE", str(tmp_path / "cache"))
    plant("asks", "asks", sound())
    own, folder = objects.path_of("asks"), tmp_path / "prebuilt"
    file = folder / "objects" / f"asks-{BASELINE.mark}.o"
    file.parent.mkdir(parents=True, mode=0o755)
    shutil.move(own, file)
    file.chmod(0o644)
    folder.chmod(0o755)
    monkeypatch.setattr(objects, "PREBUILT", folder)
    return file


def test_a_function_of_the_package_is_loaded_and_not_copied(prebuilt: Path) -> None:
    assert objects.paths_of("asks") == [objects.path_of("asks"), prebuilt]
    assert objects.load("asks") is not None
    assert not objects.path_of("asks").exists()
    assert objects.load("another") is None


def test_it_can_be_turned_off(prebuilt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOREGRET_PREBUILT", "0")
    assert objects.load("asks") is None


def test_a_processor_without_a_feature_does_not_run_it(prebuilt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert BASELINE is not None
    assert not processor.has_features(Processor("next", f"{BASELINE.features},+of_tomorrow"))
    monkeypatch.setattr(objects, "has_features", lambda processor: False)
    assert objects.load("asks") is None


def test_another_version_of_llvm_or_another_baseline_is_another_file(
    prebuilt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import llvmlite

    assert BASELINE is not None
    assert BASELINE._replace(features="+avx").mark != BASELINE.mark != BASELINE._replace(name="x86-64").mark
    monkeypatch.setattr(llvmlite, "__version__", "0.0.1")
    assert objects.load("asks") is None


@pytest.mark.parametrize("above", range(3))
def test_a_package_that_others_can_write_is_not_trusted(above: int, prebuilt: Path) -> None:
    place = [prebuilt, *prebuilt.parents][above]
    place.chmod(place.stat().st_mode | 0o002)
    assert objects.load("asks") is None


def test_a_damaged_file_of_the_package_is_not_loaded(prebuilt: Path) -> None:
    content = prebuilt.read_bytes()
    prebuilt.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert objects.load("asks") is None


@pytest.mark.compiles
@pytest.mark.slow
def test_a_process_with_a_fitting_package_compiles_nothing_and_computes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert BASELINE is not None
    package, other = tmp_path / "package", tmp_path / "other"
    with monkeypatch.context() as settings:
        settings.setenv("NUMBA_CPU_NAME", BASELINE.name)
        settings.setenv("NUMBA_CPU_FEATURES", BASELINE.features)
        built = in_a_process(PLAYING.format(folder="nowhere"), cache=package)
    assert {file.stem.rpartition("-")[2] for file in package.glob("objects/*.o")} == {BASELINE.mark}
    later = in_a_process(PLAYING.format(folder=str(package)), cache=tmp_path / "empty")
    assert later.log == []
    assert later.said == [built.said[0], False]
    monkeypatch.setenv("NOREGRET_PREBUILT", "0")
    native = in_a_process(PLAYING.format(folder=str(package)), cache=other)
    assert native.said == [built.said[0], True]
