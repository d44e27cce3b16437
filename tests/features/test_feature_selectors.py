"""Features chosen by name: columns of tables, namespaces of Vowpal Wabbit's text, columns of matrices."""

import random
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.features.hashing import hash_name
from noregret.features.transforms import parse_transform
from noregret.learner.model_file import pack
from noregret.streams import open_source
from tests.features.passing import after
from tests.support.cover import only_in_test_all
from tests.support.encoding import encoded
from tests.support.model_files import tensors

rng = np.random.default_rng(0)
USERS, ADS, HOURS = rng.integers(7, size=120), rng.integers(5, size=120), rng.integers(4, size=120)
Y = [["no", "yes"][int(u % 2 == a % 2)] for u, a in zip(USERS, ADS, strict=True)]
ROUNDS = list(zip(USERS.tolist(), ADS.tolist(), HOURS.tolist(), Y, strict=True))
CHOSEN = nr.pairs(between=[("user", "ad")])


def learned(source: Any, steps: Any = CHOSEN, **how: Any) -> nr.RuleLearner:
    learner: nr.RuleLearner = steps | nr.make("pa1", **how)
    for batch in source:
        learner.learn(batch.X, batch.y)
    return learner


def csv(folder: Path) -> str:
    path = folder / "t.csv"
    path.write_text("ad,user,hour,y\n" + "".join(f"a{a},u{u},{h},{y}\n" for u, a, h, y in ROUNDS))
    return str(path)


def vw(folder: Path) -> str:
    path = folder / "t.vw"
    path.write_text("".join(f"{y} |ad a{a} |user u{u} |hour h:{h + 1}\n" for u, a, h, y in ROUNDS))
    return str(path)


def jsonl(folder: Path) -> str:
    path = folder / "t.jsonl"
    path.write_text("".join(f'{{"ad": "a{a}", "user": "u{u}", "hour": {h}, "y": "{y}"}}\n' for u, a, h, y in ROUNDS))
    return str(path)


@pytest.mark.parametrize(("write", "mark"), [(csv, "="), (jsonl, "="), (vw, "^")])
def test_columns_and_namespaces_are_chosen_in_files(write: Any, mark: str, tmp_path: Path) -> None:
    learner = learned(open_source(write(tmp_path)))
    products = {name for name in learner.features if "*" in name}
    assert products == {f"user{mark}u{u}*ad{mark}a{a}" for u, a, _, _ in ROUNDS}
    plain = {name for name in learner.features if "*" not in name}
    by_hand = nr.make("pa1")
    for u, a, h, y in ROUNDS:
        number = {"hour^h": h + 1.0} if mark == "^" else {"hour": float(h)}
        names = {f"ad{mark}a{a}": 1.0, f"user{mark}u{u}": 1.0, **number, f"user{mark}u{u}*ad{mark}a{a}": 1.0}
        by_hand.learn_one(names, y)
    assert plain | products == set(by_hand.features)
    assert learner.mistakes == by_hand.mistakes


def test_a_frame_is_chosen_from_like_the_file(tmp_path: Path) -> None:
    import polars

    path = csv(tmp_path)
    assert pack(learned(open_source(polars.read_csv(path)))) == pack(learned(open_source(path)))


def test_a_name_stands_for_its_column_and_its_namespace_and_nothing_else() -> None:
    row = {"a": 2.0, "a=x": 3.0, "a^y": 5.0, "a^y^z": 7.0, "ab": 11.0, "a.b": 13.0, "b": 17.0, "A": 19.0}
    (found,) = after(nr.clip(1.0, only="a") | nr.make("pa1"), [row])
    assert {name for name, value in found.items() if value == 1.0} == {"a", "a=x", "a^y", "a^y^z"}
    (found,) = after(nr.clip(1.0, only=["a^y"]) | nr.make("pa1"), [row])
    assert {name for name, value in found.items() if value == 1.0} == {"a^y", "a^y^z"}
    (numbered,) = after(nr.clip(1.0, only=3) | nr.make("pa1"), [{3: 5.0, 33: 5.0}])
    assert numbered == {3: 1.0, 33: 5.0}


def test_products_are_named_in_the_order_asked_for_whatever_comes_first() -> None:
    rows = [{"ad=1": 2.0, "user=1": 3.0}, {"user=2": 1.0, "ad=1": 4.0}]
    learner = (nr.pairs(between=[("user", "ad"), ("ad", "user")]) | nr.make("pa1")).learn(rows, [1, -1])
    assert learner.features == ["ad=1", "user=1", "user=1*ad=1", "user=2", "user=2*ad=1"]
    inside = (nr.pairs(between=[("ad", "ad")]) | nr.make("pa1")).learn([{"ad=2": 1.0, "ad=1": 1.0, "x": 1.0}], [1])
    assert inside.features == ["ad=2", "ad=1", "x", "ad=2*ad=1"]


def test_categories_made_of_a_number_are_still_of_its_column() -> None:
    steps = nr.one_hot(only=["hour", "day"]) | nr.pairs(between=[("hour", "day")]) | nr.scale(only="heat")
    rows = [{"hour": 3.0, "day": 1.0, "heat": 20.0}, {"hour": 4.0, "day": 1.0, "heat": 30.0}]
    learner = (steps | nr.make("pa1")).learn(rows, [1, -1])
    assert learner.features == ["hour=3", "day=1", "heat", "hour=3*day=1", "hour=4", "hour=4*day=1"]
    with pytest.raises(nr.BadValue, match="after squares a value is no longer finite"):
        (nr.squares(only="a") | nr.make("pa1")).learn([{"a": 1e200, "b": 1.0}], [1])
    (nr.squares(only="a") | nr.scale(only="a") | nr.make("pa1", C=1.0)).learn([{"a": 1.0, "b": 1e200}] * 3, [1, 1, 1])


# ---- asked for, written, refused ------------------------------------------------------------------------------------


def test_what_is_chosen_is_written_and_read_again() -> None:
    assert str(nr.one_hot(only=["hour", "day"])) == "one_hot:only=hour+day"
    assert str(nr.pairs(9, between=[("user", "ad"), ("user", 3)])) == "pairs:limit=9.0,between=user*ad+user*3"
    assert repr(nr.one_hot(only="hour")) == "one_hot(only=('hour',))"
    assert parse_transform("pairs:between= user * ad + user*hour") == nr.pairs(
        between=[("user", "ad"), ("user", "hour")]
    )
    assert str(nr.scale(only=())) == str(nr.scale()) == "scale"
    letters = random.Random(0)
    for _ in range(300):
        names = ["".join(letters.choices("ab1 %,+*=:^|\\\"'\t\n\u2003é=2C", k=letters.randint(1, 6))) for _ in range(4)]
        for one in (nr.one_hot(only=names), nr.pairs(between=[(names[0], names[1]), (names[2], names[3])])):
            assert parse_transform(str(one)) == one


WRONG: dict[str, Any] = {
    'one_hot: only selects features by name, as in only=["user", "ad"], not 1.5': lambda: nr.one_hot(only=1.5),  # type: ignore[arg-type]
    'scale: only selects features by name, as in only=["user", "ad"], not [None]': lambda: nr.scale(only=[None]),  # type: ignore[list-item]
    "clip: only selects": lambda: nr.clip(only=[""]),
    "log1p: only selects": lambda: nr.log1p(only={"a": 1}),
    "squares: only selects": lambda: nr.squares(only=[True]),
    "as in between=[(\"user\", \"ad\")], not ('user', 'ad')": lambda: nr.pairs(between=("user", "ad")),  # type: ignore[arg-type]
    "pairs: between needs two names for every pair": lambda: nr.pairs(between=[("a", "b", "c")]),  # type: ignore[list-item]
    "needs two names for every pair, as in between": lambda: nr.make("pa1", transforms=["pairs:between=user"]),
    "pairs: between selects": lambda: nr.make("pa1", transforms=["pairs:between=user*"]),
    "missing has no parameter 'only'": lambda: nr.make("pa1", transforms=["missing:only=a"]),
    "select features by 63 names; the most is 62": lambda: nr.one_hot(only=list(range(63))) | nr.make("pa1"),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_cannot_be_chosen_is_refused(words: str) -> None:
    with pytest.raises(nr.BadValue) as caught:
        WRONG[words]()
    assert words in str(caught.value)


def test_all_names_there_is_a_bit_for_are_told_apart() -> None:
    row = {f"n{j}": 2.0 for j in range(70)}
    (found,) = after(nr.clip(1.0, only=[f"n{j}" for j in range(62)]) | nr.make("pa1"), [row])
    assert list(found.values()) == [1.0] * 62 + [2.0] * 8


@only_in_test_all
def test_rows_of_which_too_many_products_would_be_made_are_refused() -> None:
    long = {f"ad={j}": 1.0 for j in range(500)}
    few = (nr.pairs(between=[("user", "ad")]) | nr.make("pa1")).learn([{**long, "user=1": 1.0}], [1])
    assert len(few.features) == 1001
    learner = nr.pairs(limit=9, between=[("user", "ad")]) | nr.make("pa1")
    with pytest.raises(nr.BadValue, match=r"^row 1: pairs would make more than 45 products of it"):
        learner.learn([{"ad=1": 1.0, "user=1": 1.0}, {**long, "user=1": 1.0}], [1, 1])
    with pytest.raises(nr.BadValue, match=r"^row 0: pairs would make more than 1 products"):
        (nr.pairs(limit=1, between=[(0, 1), (0, 2)]) | nr.make("pa1")).learn(np.ones((1, 3)), [1])


# ---- hashed --------------------------------------------------------------------------------------------------------


def cell(first: int, second: int, bits: int) -> int:
    """The cell of a product from those of its factors, by whole numbers without end."""
    mixed = (first * 0x9E3779B97F4A7C15 + second) % 2**64
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        mixed = ((mixed ^ (mixed >> 30)) * factor) % 2**64
    return (mixed ^ (mixed >> 31)) % (1 << bits)


def by_hand(row: dict[str, float], bits: int, between: tuple[str, str]) -> dict[int, float]:
    """The cells of a row, with the products of those that hold names of the one and of the other group."""
    cells: dict[int, float] = {}
    groups: dict[int, set[str]] = {}
    for name, value in row.items():
        h = hash_name(name)
        cells[h % 2**bits] = cells.get(h % 2**bits, 0.0) + (value if (h >> 31) & 1 else -value)
        groups.setdefault(h % 2**bits, set()).add(name.partition("=")[0])
    found = dict(cells)
    for a, b in combinations(sorted(cells), 2):
        forward = between[0] in groups[a] and between[1] in groups[b]
        backward = between[0] in groups[b] and between[1] in groups[a]
        if forward or backward:
            place = cell(b, a, bits) if backward and not forward else cell(a, b, bits)
            found[place] = found.get(place, 0.0) + cells[a] * cells[b]
    return found


def wide(count: int) -> list[dict[str, float]]:
    numbers = np.random.default_rng(3)
    names = [f"{group}={j}" for group in ("user", "ad", "hour") for j in range(9)]
    return [
        {name: float(numbers.integers(1, 4)) for name in numbers.permutation(names)[: numbers.integers(0, 8)]}
        for _ in range(count)
    ]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("bits", [2, 4, 18])
def test_products_of_hashed_names_are_hashed(bits: int, native: bool) -> None:
    rows = wide(80)
    block: Any = encoded(CHOSEN | nr.make("pa1", bits=bits, native=native), rows, True, False)
    assert block.width == 2**bits
    for t, row in enumerate(rows):
        here = slice(block.indptr[t], block.indptr[t + 1])
        assert dict(zip(block.idx[here].tolist(), block.val[here].tolist(), strict=True)) == by_hand(
            row, bits, ("user", "ad")
        )


def test_the_cell_of_a_product_is_the_same_for_ever() -> None:
    assert cell(3, 5, 18) == 135912
    learner = (nr.pairs() | nr.make("perceptron", bits=18)).learn([{"a": 1.0, "b": 1.0}], [1])
    a, b = sorted(hash_name(name) % 2**18 for name in "ab")
    assert cell(a, b, 18) in np.flatnonzero(tensors(learner)["state.w"]).tolist()


@pytest.mark.parametrize(
    "steps", [CHOSEN, nr.pairs(), nr.squares(only="ad"), nr.one_hot(only="user") | CHOSEN | nr.scale(only="hour")]
)
def test_hashed_features_survive_chunks_files_and_refusals(steps: Any, tmp_path: Path) -> None:
    rows, y = wide(60), [k % 2 for k in range(60)]
    whole = (steps | nr.make("arow", bits=12)).learn(rows, y)
    ones = steps | nr.make("arow", bits=12)
    for t in range(30):
        ones.learn_one(rows[t], y[t])
    before = pack(ones)
    with pytest.raises(nr.BadValue):
        ones.learn([*rows[30:], {"user=1": float("inf")}], [*y[30:], 1])
    ones.predict(rows)
    assert pack(ones) == before
    ones.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr").learn(rows[30:], y[30:])
    assert pack(again) == pack(whole)
    assert whole.model.space is not None
    assert whole.model.space.features == 2**12
