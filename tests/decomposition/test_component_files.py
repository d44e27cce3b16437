"""What is read of components, directions and rows that wait in a model file: all that can be, and nothing else."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition.factors import Factors, Limits
from noregret.decomposition.factors_file import LONGEST, are_orthonormal, dump_factors, read_array, restore_factors
from noregret.decomposition.incremental_pca import Centred
from noregret.decomposition.oja import Directions
from noregret.decomposition.row_factors import RowFactors
from noregret.learner.model_file import pack, unpack
from tests.support import refusal

X = np.random.default_rng(3).normal(size=(9, 4))
Change = Callable[[Any], Any]


def make(name: str, **options: Any) -> Any:
    return nr.make(name, native=False, **options)


def put(at: Any, value: float) -> Change:
    def change(array: Any) -> Any:
        new = array.copy()
        new[at] = value
        return new

    return change


def times(factor: float) -> Change:
    return lambda it: it * factor


LESS, ALL = slice(None, -1), slice(None)


def cut(*parts: slice) -> Change:
    return lambda it: it[parts]


# ---- factors ---------------------------------------------------------------------------------------------------------


def stored(keep: bool = True) -> tuple[dict[str, Any], dict[str, Any]]:
    """Factors of 4 rows with 5 features, rank 2 of at most 3, and a basis of 4 columns of at most 5."""
    arrays = {"basis": np.eye(5)[:, :4], "turn": np.eye(4)[:, 1:3], "values": np.array([2.0, 0.5])}
    arrays |= {"sums": np.array([2.0, -1.0])}
    if keep:
        arrays |= {"rows.0": np.eye(3, 2), "rotation.0": np.eye(2), "rows.1": np.eye(1), "rotation.1": np.eye(2)[1:]}
    return {"rows": 4, "blocks": 2 if keep else 0}, arrays


def read(header: dict[str, Any], arrays: dict[str, Any], keep: bool = True) -> Factors:
    return restore_factors(Factors.start(5, Limits(3, 1e-8, spare=2), keep), header, arrays)


def test_factors_are_read_as_they_were_written() -> None:
    for keep in (True, False):
        header, arrays = stored(keep)
        factors = read(header, arrays, keep)
        again, found = dump_factors(factors)
        assert again == header
        assert found.keys() == arrays.keys()
        assert all(np.array_equal(found[name], arrays[name]) for name in arrays)
        assert factors.rows == 4
        assert factors.basis.flags.f_contiguous
    assert factors.left is None
    factors.left = RowFactors([np.eye(2)])
    with pytest.raises(ValueError, match="zip"):
        dump_factors(factors)


MORE = np.eye(5)
CONTRADICTIONS: list[tuple[str, Change, str]] = [
    ("basis", cut(LESS), "do not fit together"), ("turn", cut(LESS), "do not fit"), ("turn", cut(ALL, LESS), "do not"),
    ("sums", cut(LESS), "do not fit"), ("values", cut(LESS), "do not fit"), ("values", put(1, 0.0), "do not fit"),
    ("values", put(0, -2.0), "do not fit"), ("values", put(1, 2.1), "do not fit"), ("values", put(1, 9.0), "do not"),
    ("basis", times(1.0 + 1e-6), "not orthonormal"), ("turn", times(1.0 - 1e-6), "not orthonormal"),
    ("sums", put(0, 2.0 * LONGEST + 1e-9), "not orthonormal"), ("sums", put(1, -2.1), "not orthonormal"),
    ("rotation.0", cut(LESS), "of its rows do not fit"), ("rotation.1", cut(ALL, LESS), "of its rows do not fit"),
    ("rows.1", lambda it: np.zeros((2, 1)), "not those of all rows"), ("rows.0", cut(LESS), "not those of all rows"),
    ("rows.0", put((0, 0), 1.0 + 1e-5), "rows are too large"), ("rows.1", times(-1.1), "rows are too large"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "message"), CONTRADICTIONS)
def test_factors_that_contradict_themselves_are_refused(name: str, change: Change, message: str) -> None:
    header, arrays = stored()
    arrays[name] = change(arrays[name])
    assert message in refusal(lambda: read(header, arrays))


ALLOWED: list[tuple[str, Change]] = [
    ("values", put(1, 2.0)), ("values", put(1, 1e-12)), ("values", times(0.1)), ("basis", times(1.0 + 4e-7)),
    ("sums", put(0, 2.0 * LONGEST)), ("sums", put(0, -2.0 * LONGEST)), ("rows.0", put((0, 0), LONGEST)),
    ("rows.0", put((0, 0), -LONGEST)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change"), ALLOWED)
def test_factors_at_the_border_of_what_can_be_are_read(name: str, change: Change) -> None:
    header, arrays = stored()
    arrays[name] = change(arrays[name])
    assert read(header, arrays).rank == 2


def test_ranks_bases_and_blocks_have_their_limits() -> None:
    header, arrays = stored(keep=False)
    arrays["basis"] = np.eye(5)
    three = {"turn": MORE[:, :3], "values": np.array([3.0, 2.0, 1.0]), "sums": np.zeros(3)}
    assert read(header, {**arrays, **three}, False).rank == 3
    few = {**arrays, "basis": MORE[:, :4]}
    assert "blocks" in refusal(lambda: read({**header, "blocks": 1}, few, False))
    four = {"turn": MORE[:, :4], "values": np.array([4.0, 3.0, 2.0, 1.0]), "sums": np.zeros(4)}
    assert "do not fit together" in refusal(lambda: read(header, {**arrays, **four}, False))
    wide = {"basis": np.eye(9)[:, :6], "turn": np.eye(6)[:, :2]}
    for spare, fits in ((2, False), (3, True)):
        fresh = Factors.start(9, Limits(3, 1e-8, spare=spare))
        if fits:
            assert restore_factors(fresh, header, {**arrays, **wide}).basis.shape == (9, 6)
        else:
            assert "do not fit together" in refusal(
                lambda fresh=fresh: restore_factors(fresh, header, {**arrays, **wide})  # type: ignore[misc]
            )
    assert "blocks" in refusal(lambda: read({"rows": 4, "blocks": 65}, stored()[1]))
    assert "rows" in refusal(lambda: read({"rows": -1, "blocks": 2}, stored()[1]))
    assert "not those of all rows" in refusal(lambda: read({"rows": 5, "blocks": 2}, stored()[1]))


def test_columns_are_orthonormal_up_to_a_millionth() -> None:
    for off, fits in ((1e-6, True), (1.1e-6, False), (-1e-6, True), (-1.1e-6, False)):
        assert are_orthonormal(np.array([[1.0, off], [0.0, 1.0], [0.0, 0.0]])) is fits
    assert are_orthonormal(np.eye(3)[:, :2] * (1.0 - 1e-6)) is False
    assert are_orthonormal(np.full((2, 2), 1e200)) is False
    assert are_orthonormal(np.zeros((3, 0))) is True


@pytest.mark.parametrize("wrong", [None, np.ones(2, np.float32), np.ones((2, 1)), np.array([1.0, np.nan])])
def test_arrays_are_of_finite_floats_in_so_many_dimensions(wrong: Any) -> None:
    words = "values must be an array of finite numbers"
    assert words in refusal(lambda: read_array({} if wrong is None else {"values": wrong}, "values", 1))
    for name in ("values", "sums", "basis", "turn", "rows.0", "rotation.0"):
        header, arrays = stored()
        assert name in refusal(lambda: read(header, {**arrays, name: arrays[name][None]}))  # noqa: B023
    given = np.ones(2)
    assert read_array({"values": given}, "values", 1) is not given


# ---- states ----------------------------------------------------------------------------------------------------------

MAKERS: dict[str, Callable[[], Any]] = {
    "pca_incremental": lambda: make("pca_incremental", rank=2, batch=3),
    "oja": lambda: make("oja", rank=3),
    "few": lambda: make("oja", rank=6),
    "pca": lambda: make("pca", rank=2, radius=0.0),
    "pca of one": lambda: make("pca", rank=3),
    "pca of all": lambda: make("pca", rank=4),
    "pca of more": lambda: make("pca", rank=7),
    "mean_row": lambda: make("mean_row"),
}
ONE_LEFT = np.log(np.array([0.9, 0.05, 0.03, 0.02]))
WRONG: list[tuple[str, str, Any]] = [
    ("pca_incremental", "mean", cut(LESS)), ("pca_incremental", "squares", lambda it: -it),
    ("pca_incremental", "squares", lambda it: 1e-6 * it), ("pca_incremental", "mean_of", lambda it: 0),
    ("pca_incremental", "mean_of", lambda it: 10), ("pca_incremental", "values", times(1e3)),
    ("oja", "columns", cut(LESS)), ("oja", "columns", cut(ALL, LESS)), ("oja", "variances", cut(LESS)),
    ("oja", "squares", lambda it: -1e-9), ("oja", "columns", times(1.0 + 1e-6)), ("oja", "variances", put(1, -1e-9)),
    ("oja", "rows", lambda it: 10), ("few", "columns", cut(ALL, LESS)), ("few", "columns", lambda it: np.eye(4, 6)),
    ("pca", "vectors", cut(LESS)), ("pca", "vectors", cut(ALL, LESS)), ("pca", "logs", cut(LESS)),
    ("pca", "radius", lambda it: -1e-9), ("pca", "expected", lambda it: -1e-9), ("pca", "vectors", times(1.0 + 1e-6)),
    ("pca", "logs", lambda it: it + 1.1e-6), ("pca", "logs", lambda it: it - 1.1e-6),
    ("pca", "logs", lambda it: it - 1),
    ("pca", "logs", lambda it: it + 0.1), ("pca", "logs", lambda it: ONE_LEFT), ("pca", "rows", lambda it: 10),
    ("pca", "logs", lambda it: np.log([0.5 + 2e-9, 0.5 - 8e-9, 3e-9, 3e-9])),
    ("mean_row", "mean", cut(LESS)), ("mean_row", "mean", put(0, 1.1e150)), ("mean_row", "mean", put(0, -1.1e150)),
    ("mean_row", "count", lambda it: 0), ("mean_row", "count", lambda it: 10),
]  # fmt: skip


def reread(name: str, entry: str, change: Change) -> Any:
    """The state after nine rows, of which one entry is another."""
    learner = MAKERS[name]().learn(X)
    header, arrays = learner.dump_state(learner.state)
    place = header if entry in header else arrays
    place[entry] = change(place[entry])
    with np.errstate(invalid="ignore" if name == "pca_incremental" else "warn"):
        return learner.restore_state(header, arrays, 4)


@pytest.mark.parametrize(("name", "entry", "change"), WRONG)
def test_states_that_contradict_themselves_are_refused(name: str, entry: str, change: Change) -> None:
    reread(name, entry, lambda it: it)
    assert refusal(lambda: reread(name, entry, change)).startswith("corrupt model file: ")


BORDERS: list[tuple[str, str, Any]] = [
    ("pca_incremental", "mean_of", lambda it: 1), ("oja", "squares", lambda it: 0.0), ("oja", "variances", times(0.0)),
    ("oja", "rows", lambda it: 0), ("few", "columns", lambda it: np.eye(4)), ("pca", "radius", lambda it: 0.0),
    ("pca", "radius", lambda it: 0.1), ("pca", "expected", lambda it: 0.0), ("pca", "expected", lambda it: 0.1),
    ("pca", "logs", lambda it: it - 0.9e-6), ("pca", "logs", lambda it: np.log([0.5, 0.5, 1e-9, 1e-9])),
    ("pca", "logs", lambda it: np.array([1e-9 - np.log(2.0), 1e-9 - np.log(2.0), -50.0, -50.0])),
    ("pca of one", "logs", lambda it: ONE_LEFT), ("pca of all", "logs", lambda it: ONE_LEFT),
    ("pca of more", "logs", lambda it: ONE_LEFT),
    ("mean_row", "mean", put(0, 1e150)), ("mean_row", "mean", put(0, -1e150)), ("mean_row", "count", lambda it: 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "entry", "change"), BORDERS)
def test_states_at_the_border_of_what_can_be_are_read(name: str, entry: str, change: Change) -> None:
    assert reread(name, entry, change).features == 4


def test_no_singular_value_is_longer_than_all_rows_together() -> None:
    learner = make("pca_incremental", rank=2, batch=3).learn(X)
    _, arrays = learner.dump_state(learner.state)
    for squares in (0.25, 4.0):
        longest = np.sqrt(squares) * LONGEST
        header = {"rows": 9, "blocks": 0, "squares": squares, "mean_of": 9}
        for first, fits in ((longest, True), (np.nextafter(longest, 9.0), False)):
            changed = {**arrays, "values": np.array([first, 0.1])}
            if fits:
                assert learner.restore_state(header, changed, 4).squares == squares
            else:
                message = refusal(lambda: learner.restore_state(header, changed, 4))  # noqa: B023
                assert "do not fit" in message
    nothing = {**arrays, "values": np.zeros(0), "sums": np.zeros(0), "turn": np.zeros((arrays["basis"].shape[1], 0))}
    with np.errstate(all="ignore"):
        assert "do not fit" in refusal(lambda: learner.restore_state({**header, "squares": -1.0}, nothing, 4))
        assert learner.restore_state({**header, "squares": 0.0}, nothing, 4).factors.rank == 0


def test_states_that_have_overflowed_are_known_by_any_of_their_numbers() -> None:
    def centred(value: float = 1.0, mean: float = 0.0, squares: float = 1.0) -> Centred:
        factors = Factors(Limits(1, 0.0), np.eye(2, 1), np.eye(1), np.array([value]), np.zeros(1))
        return Centred(factors, np.array([mean, 0.0]), squares)

    assert centred().is_finite()
    assert not centred(value=np.inf).is_finite()
    assert not centred(mean=np.nan).is_finite()
    assert not centred(squares=np.inf).is_finite()
    assert Directions(1, 0, np.eye(2, 1), np.zeros(1)).is_finite()
    assert not Directions(1, 0, np.full((2, 1), np.nan), np.zeros(1)).is_finite()
    assert not Directions(1, 0, np.eye(2, 1), np.zeros(1), np.inf).is_finite()


@pytest.mark.parametrize("name", ["pca", "oja", "pca_incremental", "svd", "mean_row"])
@pytest.mark.parametrize("bits", [None, 4])
def test_learners_of_rows_without_features_are_saved(name: str, bits: int | None) -> None:
    learner = make(name, batch=1, bits=bits).learn([{}, {}])
    again = unpack(pack(learner), "m.nr")
    assert pack(again.learn([{"a": 2.0}])) == pack(learner.learn([{"a": 2.0}]))
    assert again.features == (1 if bits is None else 16)
    assert np.isfinite(again.score([{"a": 1.0}]).losses).all()


# ---- learners --------------------------------------------------------------------------------------------------------


def restored(learner: Any, change: Callable[[dict[str, Any], dict[str, Any]], Any]) -> Any:
    header, arrays = learner.dump()
    change(header, arrays)
    return type(learner).restore(header, arrays, lambda card: card)


def test_headers_of_the_wrong_kind_are_refused() -> None:
    learner = make("svd", rank=2, batch=4).learn(X)
    for name, wrong in (
        ("params", None),
        ("params", []),
        ("options", None),
        ("options", "x"),
        ("state", 3),
        ("state", []),
    ):
        assert "must be objects" in refusal(lambda: restored(learner, lambda header, _: header.update({name: wrong})))  # noqa: B023
    assert "svd has no such parameters" in refusal(
        lambda: restored(learner, lambda header, _: header["params"].update(seed=1))
    )
    for name, wrong in (("state", None), ("rounds", 1)):
        change = {name: wrong, "updates": 0}
        assert "does not fit the rows" in refusal(lambda: restored(learner, lambda header, _: header.update(change)))  # noqa: B023
    assert restored(learner, lambda header, _: header.update(updates=3)).updates == 3


def test_rows_that_wait_are_fewer_than_a_mini_batch_and_than_all_rows() -> None:
    waiting = make("svd", rank=2, batch=4).learn(X[:3])
    assert restored(waiting, lambda header, _: None).pending.rows == 3
    full = "a mini-batch is waiting that is already full"
    for batch in (3, 2, 1):
        assert full in refusal(lambda: restored(waiting, lambda header, _: header["params"].update(batch=batch)))  # noqa: B023
    some = make("svd", rank=2, batch=4).learn(X[:7])
    assert restored(some, lambda header, _: None).learned_rows == 4
    assert full in refusal(lambda: restored(some, lambda header, _: header.update(rounds=2, updates=2)))


def test_a_state_knows_all_features_unless_rows_wait() -> None:
    rows = [{"a": 1.0}, {"a": 2.0, "b": 1.0}, {"b": 1.0, "c": 3.0}]
    learner = make("svd", rank=2, batch=2).learn(rows)
    assert learner.state.features == 2
    again = unpack(pack(learner), "m.nr")
    assert again.feature_names == ["a", "b", "c"]
    assert pack(again.flush()) == pack(learner.flush())
    assert "features" in refusal(lambda: restored(learner, lambda header, _: header["state"].update(features=2)))
    nothing = make("svd", rank=2, batch=2).learn([{}, {}, {"a": 1.0}])
    assert nothing.state.features == 0
    assert unpack(pack(nothing), "m.nr").components.tolist() == [[1.0]]


def test_values_of_rows_that_wait_are_those_of_the_method() -> None:
    learner = make("lda", k=2, batch=4).learn([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0]])
    message = refusal(lambda: restored(learner, lambda _, arrays: arrays["pending.values"].__setitem__(0, -1.0)))
    assert message.startswith("corrupt model file: of its mini-batch, row 0")
