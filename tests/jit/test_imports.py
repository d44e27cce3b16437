"""What is not loaded until it is needed: numpy by the import, the compiler by anything that runs plain text."""

import pytest

from tests.support.processes import modules_after


def test_importing_the_library_loads_neither_numpy_nor_numba() -> None:
    assert not modules_after("import noregret; noregret.__version__; dir(noregret)") & {"numpy", "numba", "scipy"}


@pytest.mark.parametrize(
    "code",
    [
        "import noregret as nr; repr(nr.learners()); nr.make('pa1')",
        "import noregret.__main__ as main; main.main(['learners'])",
    ],
)
def test_listing_the_learners_does_not_load_numba(code: str) -> None:
    assert not modules_after(code) & {"numba", "llvmlite", "sklearn"}


def test_interpreting_never_loads_numba() -> None:
    code = """
import noregret as nr
for algebra in ("sparse", "dense", "kernel", "reference"):
    learner = nr.make("pa1", native=False, algebra=algebra)
    learner.play([{"a": 1.0}, {"b": 1.0}, {"a": 2.0, "c": 1.0}], ["x", "y", "z"])
    learner.learn_one({"d": 1.0}, "x").predict_one({"d": 1.0})
    learner.explain_one({"a": 1.0}), learner.merge(learner), learner.copy()
"""
    assert not modules_after(code) & {"numba", "llvmlite"}
