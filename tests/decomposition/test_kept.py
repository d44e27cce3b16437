"""What is computed of a state is kept for rows scored one at a time: never stale, in no file, shared by none."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.cached_property import cached_property
from noregret.decomposition import atoms, centres, gaussian, gaussian_scores, kernel_density
from noregret.decomposition.kept import keep
from noregret.learner.model_file import pack

RNG = np.random.default_rng(8)
ROWS = RNG.normal(size=(90, 4)) @ RNG.normal(size=(4, 4)) + 3.0 * RNG.integers(2, size=(90, 1))
FORMS: dict[str, tuple[dict[str, Any], Any, str]] = {  # options, and what computes that which is kept
    "gaussian": ({"batch": 4}, gaussian.Gaussian, "find_whitening"),
    "mixture": ({"k": 2, "batch": 4, "start": 20}, gaussian_scores.Gaussians, "place"),
    "mixture, diagonal": (
        {"k": 2, "batch": 4, "start": 20, "shape": "diagonal"}, gaussian_scores.Gaussians, "place"),
    "kernel_density": ({"budget": 12, "batch": 4}, gaussian_scores.Gaussians, "place"),
    "kernel_density, roots": ({"budget": 12, "batch": 4}, gaussian_scores.Gaussians, "of"),
    "kernel_density, bandwidths": ({"budget": 12, "batch": 4}, kernel_density.KernelDensity, "make_kernel"),
    "kernel_density, random": ({"budget": 12, "batch": 4, "policy": "random"}, gaussian_scores.Gaussians, "of"),
    "kernel_density, oldest": (
        {"budget": 12, "batch": 4, "policy": "oldest", "shape": "diagonal"}, gaussian_scores.Gaussians, "of"),
    "kmeans": ({"k": 3, "batch": 4, "start": 8}, centres.Placed, "of"),
    "dictionary": ({"k": 3, "batch": 4, "penalty": 0.1}, atoms.Products, "of"),
}  # fmt: skip
forms = pytest.mark.parametrize("form", FORMS)


def make(form: str, **options: Any) -> Any:
    return nr.make(form.split(",")[0], native=False, **FORMS[form][0], **options)


def watch(form: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows by one each time that what is kept is computed."""
    _, owner, name = FORMS[form]
    calls, compute, plain = list[str](), getattr(owner, name), isinstance(vars(owner)[name], classmethod)

    def watched(*values: Any) -> Any:
        calls.append(name)
        return compute(*values)

    monkeypatch.setattr(owner, name, staticmethod(watched) if plain else watched)
    return calls


@forms
def test_rows_scored_one_at_a_time_do_not_compute_it_again(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = make(form).learn(ROWS[:61])
    expected = learner.transform(ROWS[61:]).tolist()
    calls = watch(form, monkeypatch)
    assert [learner.transform_one(x).tolist() for x in ROWS[61:]] == expected
    assert calls == []
    learner.learn_one(ROWS[61])
    learner.transform_one(ROWS[62])
    asked = len(calls)
    assert asked > 0
    learner.transform_one(ROWS[63])
    assert len(calls) == asked


def learn_wide(learner: Any) -> None:
    learner.learn(np.hstack((ROWS[:6], ROWS[:6, :2])))


def fail(learner: Any) -> None:
    """Some mini-batches are learned before the value that is too large, and forgotten."""
    with pytest.raises(nr.BadValue):
        learner.learn(np.concatenate((ROWS[:9], np.full((1, learner.features), 1e200))))


STEPS: dict[str, Callable[[Any], Any]] = {
    "learn": lambda learner: learner.learn(ROWS[:9]),
    "learn_one": lambda learner: learner.learn_one(ROWS[9]),
    "play": lambda learner: learner.play(ROWS[10:15]),
    "flush": lambda learner: learner.flush(),
    "fail": fail,
    "new features": learn_wide,
}


@pytest.mark.thinned(3)
@forms
@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_it_is_never_stale(form: str, step: Callable[[Any], Any]) -> None:
    """A learner that scored rows before each call scores them afterwards as one that never did."""
    looked, other = (make(form, columns="grow").learn(ROWS[:33]) for _ in range(2))
    for _ in range(2):
        looked.transform_one(ROWS[50])
        looked.score_settled(ROWS[50:51])
        step(looked)
    for _ in range(2):
        step(other)
    assert looked.transform(ROWS[:9]).tolist() == other.transform(ROWS[:9]).tolist()
    assert looked.score_settled(ROWS[:9]).losses.tolist() == other.score_settled(ROWS[:9]).losses.tolist()


@forms
def test_copies_go_on_by_themselves(form: str) -> None:
    learner = make(form).learn(ROWS[:33])
    before = learner.transform(ROWS[:9]).tolist()
    copied = learner.copy()
    copied.learn(ROWS[33:60]).transform(ROWS[:9])
    assert learner.transform(ROWS[:9]).tolist() == before
    expected = make(form).learn(ROWS[:60]).transform(ROWS[:9])
    assert copied.transform(ROWS[:9]).tolist() == expected.tolist() != before


@forms
def test_it_is_in_no_file(form: str) -> None:
    looked, other = (make(form).learn(ROWS[:33]) for _ in range(2))
    looked.transform_one(ROWS[50])
    assert pack(looked) == pack(other)


def test_what_is_kept_is_of_the_very_objects_it_was_computed_of() -> None:
    one, equal = np.ones(2), np.ones(2)
    kept = keep(None, lambda: "first", one, 3.0)
    assert keep(kept, lambda: "second", one, kept.made_of[1]) is kept
    assert keep(kept, lambda: "second", equal, kept.made_of[1]).value == "second"


def test_atoms_that_are_filled_or_moved_have_new_products() -> None:
    state, random = atoms.Atoms.start(3, 4), np.random.default_rng(0)
    changes: list[Callable[[], None]] = [
        lambda: state.fill(ROWS[:5], random, state.unused()),
        lambda: state.add(np.eye(3), ROWS[:3], 1.0),
        state.step,
    ]
    for change in changes:
        state.products()
        change()
        assert state.products().gram.tolist() == (state.atoms @ state.atoms.T).tolist()
        assert state.products().columns.tolist() == state.atoms.T.tolist()


def test_centres_that_are_found_or_moved_are_measured_anew() -> None:
    state, random = centres.Centres.start(4), np.random.default_rng(0)
    changes: list[Callable[[], None]] = [
        lambda: state.seed(ROWS[:9], 2, random),
        lambda: state.step(ROWS[:9]),
        lambda: state.refine(ROWS[:9], 2),
        lambda: state.seed(ROWS[:9], 3, random),
    ]
    for change in changes:
        state.distances(ROWS)
        change()
        expected = centres.Centres(state.centres.copy(), state.counts).distances(ROWS)
        assert state.distances(ROWS).tolist() == expected.tolist()


def test_a_property_that_is_cached_is_computed_once_for_each_object() -> None:
    computed = list[object]()

    class Owner:
        @cached_property
        def size(self) -> int:
            """How large it is."""
            computed.append(self)
            return len(computed)

    one, other = Owner(), Owner()
    assert [one.size, other.size, one.size, other.size] == [1, 2, 1, 2]
    assert computed == [one, other]
    assert vars(Owner)["size"].__doc__ == "How large it is."
