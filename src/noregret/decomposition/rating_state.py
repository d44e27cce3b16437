"""What a learner of ratings knows: users and items with their factors and biases, and all ratings."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.rating_loops import (
    COUNT,
    ERRORS,
    PLAYED,
    SUM,
    TOTALS,
    Memory,
    Pairs,
    Rounds,
    Side,
    make_play,
    make_score,
)
from noregret.decomposition.rating_one import OneRating
from noregret.decomposition.rating_table import NOTHING, Known, count_slots, fill_lists, find_ratings
from noregret.learner.header_fields import corrupt
from noregret.learner.model_file import Arrays

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ROWS = 64  # of factors that are drawn together, so that draws do not depend on how users and items come
DEVIATION = 0.1  # of factors at the start
FEW = 64  # rounds of a call, which are not worth counting all users
LEAST = 8  # rows that there is room for at first
ROUNDING = 1e-6  # of each rating, in the sum of a file
Number = TypeVar("Number", bound=np.generic)


@dataclass(frozen=True)
class Shape:
    """How large the parts of a state are, and how they are drawn."""

    k: int
    averaging: bool
    seed: int
    native: bool

    def draw(self, side: int, first: int, last: int) -> Floats:
        """The factors of new users (side 0) or items (side 1) from number `first` to `last`, normally distributed."""
        blocks = np.unique(np.arange(first, last) // ROWS).tolist()
        drawn = np.concatenate([self.draw_block(2 * block + side) for block in blocks])
        return drawn[first % ROWS :][: last - first]

    def draw_block(self, number: int) -> Floats:
        random = np.random.Generator(np.random.Philox(key=np.array([self.seed, number], np.uint64)))
        return DEVIATION * random.standard_normal((ROWS, self.k))

    def make_side(self, rows: int) -> Side:
        """Room for so many users, or items."""
        averages = np.zeros((rows, self.k if self.averaging else 0))
        return Side(np.zeros((rows, self.k)), averages, np.zeros(rows), *np.zeros((2, rows), np.int64))


class RatingState:
    """Arrays with spare room; `users`, `items` and `ratings` say how many rows are in use."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.users = self.items = 0
        self.of_users, self.of_items = shape.make_side(LEAST), shape.make_side(LEAST)
        self.totals = np.zeros(TOTALS)
        self.moves = np.zeros(1, np.int64)  # how often arrays were replaced
        self.known = make_known(LEAST, LEAST)
        self.memory = make_memory(0, shape.k)
        self.play, self.score = make_play(), make_score()
        self.one: OneRating | None = None
        self.drawn: dict[int, tuple[int, Floats]] = {}  # by side: the block of factors that was drawn last

    @property
    def ratings(self) -> int:
        """How many different ratings there are."""
        return int(self.totals[COUNT])

    def draw(self, side: int, first: int, last: int) -> Floats:
        """The factors of new users or items, most of which come one by one."""
        block, start = first // ROWS, first % ROWS
        if start + last - first > ROWS:
            return self.shape.draw(side, first, last)
        if side not in self.drawn or self.drawn[side][0] != block:
            self.drawn[side] = block, self.shape.draw_block(2 * block + side)
        return self.drawn[side][1][start:][: last - first]

    @property
    def rooms(self) -> tuple[int, ...]:
        """For how many users, items and ratings there is room."""
        return self.of_users.sums.size, self.of_items.sums.size, self.known.users.size, self.known.heads.size

    def grow(self, users: int, items: int, ratings: int) -> None:
        """Make room for so many users and items, and for so many more ratings."""
        rooms = self.rooms
        if users > self.users:
            self.of_users = grow_side(self.of_users, self.users, users, self.draw(0, self.users, users))
            heads = resize(self.known.heads, users)
            heads[self.users : users] = NOTHING
            if heads is not self.known.heads:
                self.known = self.known._replace(heads=heads)
            self.users = users
        if items > self.items:
            self.of_items = grow_side(self.of_items, self.items, items, self.draw(1, self.items, items))
            self.items = items
        wanted, known = self.ratings + ratings, self.known
        who = resize(known.users, wanted)
        if who is not known.users:
            what, later = resize(known.items, wanted), resize(known.later, wanted)
            self.known = Known(who, what, resize(known.ratings, wanted), later, known.heads, known.table)
        if self.rooms != rooms:
            self.move()
        if count_slots(wanted) > self.known.table.size:
            self.list_again(count_slots(2 * wanted))

    def list_again(self, slots: int) -> int:
        """Build the lists of ratings anew, with so many slots; how many ratings are there twice."""
        heads, table = np.full_like(self.known.heads, NOTHING), np.full(slots, NOTHING, np.int32)
        known = self.known._replace(heads=heads, table=table, later=np.zeros_like(self.known.later))
        twice = fill_lists(known, self.ratings, self.shape.native)
        self.known = known
        self.move()
        return twice

    def learn(self, rounds: Rounds, touched: tuple[Integers, Integers], numbers: Floats) -> bool:
        """Learn rounds of these users and items, for which there is room; whether nothing has overflowed."""
        (who, what), size = touched, rounds.users.size
        most = size + int(self.of_users.counts[who].max(initial=0))
        if self.shape.k and most > self.memory.entries.size:
            self.memory = make_memory(2 * most, self.shape.k)
            self.move()
        self.play.run(
            self.shape.native, rounds=rounds, users=self.of_users, items=self.of_items, known=self.known,
            totals=self.totals, memory=self.memory, numbers=numbers,
        )  # fmt: skip
        sides = (self.of_users, who), (self.of_items, what)
        parts = [array[rows] for side, rows in sides for array in (side.factors, side.averages)]
        return are_finite([*parts, rounds.predictions])

    def predict(self, pairs: Pairs, numbers: Floats) -> None:
        """Predict ratings; nothing is learned."""
        self.score.run(self.shape.native, pairs=pairs, users=self.of_users, items=self.of_items, totals=self.totals,
                       numbers=numbers)  # fmt: skip

    # ---- single ratings ----------------------------------------------------------------------------------------------

    # A loop is taken out while it is used, so that a signal handler makes one of its own.

    def learn_one(self, user: int, item: int, share: float, numbers: Floats) -> bool:
        """Learn a rating; False, with nothing changed, where there is no room, or it must be refused."""
        one, self.one = self.one or OneRating(self, numbers), None
        learned = one.learn(user, item, share)
        if learned:
            self.one = one
        return learned

    def predict_one(self, user: int, item: int, numbers: Floats) -> float | None:
        """The share that is predicted; None where it must be refused, or arrays were replaced meanwhile."""
        one, self.one = self.one or OneRating(self, numbers), None
        share = one.predict(user, item)
        if share is not None:
            self.one = one
        return share

    def move(self) -> None:
        """Have the loop over one rating bound anew, since arrays were replaced; one in use finds that they were."""
        self.moves += 1
        self.one = None

    # ---- undoing -----------------------------------------------------------------------------------------------------

    def remember_arrays(self) -> Callable[[], None]:
        """How to go back to the arrays that are there now, whatever stands in them; may be repeated."""
        before = dict(vars(self))

        def go_back() -> None:
            vars(self).update(before)
            self.move()

        return go_back

    def savepoint(self, rounds: Rounds, touched: tuple[Integers, Integers]) -> Callable[[], None]:
        """How to go back to now, after whatever rounds of these users and items changed; may be repeated."""
        go_back = self.remember_arrays()
        saved: list[tuple[NDArray[Any], Integers, NDArray[Any]]] = [
            (self.totals, np.arange(TOTALS), self.totals.copy())
        ]
        who, what = touched
        for side, numbers, size in ((self.of_users, who, self.users), (self.of_items, what, self.items)):
            rows = numbers[numbers < size]
            saved += [(array, rows, array[rows]) for array in side]

        def undo() -> None:
            go_back()
            for array, rows, values in saved:
                array[rows] = values
            replaced = (rounds.entries >= 0) & (rounds.entries < self.ratings)
            for t in np.flatnonzero(replaced)[::-1].tolist():
                self.known.ratings[rounds.entries[t]] = rounds.before[t]
            self.list_again(self.known.table.size)

        return undo

    def find_ratings(self, user: int) -> Integers:
        """The numbers of all ratings of a user, the last one first."""
        return find_ratings(self.known, user, int(self.of_users.counts[user]), self.shape.native)

    def find_unrated(self, user: int) -> Integers:
        """The numbers of all items that a user has not rated."""
        left = np.ones(self.items, bool)
        left[self.known.items[self.find_ratings(user)]] = False
        return np.flatnonzero(left)

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump(self) -> Arrays:
        """All arrays without spare room; counts and lists follow from the ratings."""
        found: Arrays = {"totals": self.totals[:PLAYED].copy()}
        for name, side, size in (("users", self.of_users, self.users), ("items", self.of_items, self.items)):
            found |= {f"{name}.{part}": getattr(side, part)[:size].copy() for part in ("factors", "sums", "steps")}
            if self.shape.averaging:
                found[f"{name}.averages"] = side.averages[:size].copy()
        for part in ("users", "items", "ratings"):
            found[f"ratings.{part}"] = getattr(self.known, part)[: self.ratings].copy()
        return found

    @classmethod
    def restore(cls, shape: Shape, arrays: Arrays, users: int, items: int) -> Self:
        """The state of a file, all checked."""
        new = cls(shape)
        new.users, new.items = users, items
        who, what = read_numbers(arrays, "ratings.users", users), read_numbers(arrays, "ratings.items", items)
        values, totals = read_array(arrays, "ratings.ratings", 1), read_array(arrays, "totals", 1)
        if not who.size == what.size == values.size or ((values < 0.0) | (values > 1.0)).any():
            raise corrupt("its ratings do not fit together")
        if totals.shape != (PLAYED,) or totals[COUNT] != values.size or (totals[ERRORS] < 0.0).any():
            raise corrupt("its totals are not those of its ratings")
        if not abs(totals[SUM] - values.sum()) <= ROUNDING * values.size:
            raise corrupt("its sum is not that of its ratings")
        new.totals[:PLAYED] = totals
        new.of_users = read_side(shape, arrays, "users", users, who)
        new.of_items = read_side(shape, arrays, "items", items, what)
        new.known = make_known(users, values.size)._replace(users=who, items=what, ratings=values)
        if new.list_again(count_slots(values.size)):
            raise corrupt("a rating is there twice")
        return new


def make_memory(items: int, k: int) -> Memory:
    """Room for so many items of a user, and for gradients of k factors."""
    truths, guesses, slopes = np.zeros((3, items))
    return Memory(np.zeros(items, np.int64), truths, guesses, slopes, np.zeros(k), np.zeros(k))


def make_known(users: int, ratings: int) -> Known:
    """Room for the ratings of so many users."""
    who, what, later = np.zeros((3, ratings), np.int32)
    heads, table = np.full(users, NOTHING, np.int32), np.full(count_slots(ratings), NOTHING, np.int32)
    return Known(who, what, np.zeros(ratings), later, heads, table)


def are_finite(parts: list[Floats]) -> bool:
    """Whether all values are finite: where their sum is, or, since it may overflow, where each of them is."""
    with np.errstate(all="ignore"):
        total = float(sum(part.sum() for part in parts))
    return isfinite(total) or all(map(all_finite, parts))


def find_touched(numbers: Integers) -> Integers:
    """Different numbers of users, or items."""
    if numbers.size > FEW:
        return np.flatnonzero(np.bincount(numbers))
    return np.array([*set(numbers.tolist())], np.int64)


def resize(array: NDArray[Number], size: int) -> NDArray[Number]:
    """The same array with room for so many rows, where there is less."""
    if size <= len(array):
        return array
    larger = np.zeros((max(size, 2 * len(array)), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def grow_side(side: Side, used: int, size: int, factors: Floats) -> Side:
    """Room for more users, or items, with these factors."""
    if size > len(side.sums):
        side = Side(
            resize(side.factors, size),
            resize(side.averages, size),
            resize(side.sums, size),
            resize(side.counts, size),
            resize(side.steps, size),
        )
    for array in side[1:]:
        array[used:size] = 0  # rows that were undone may stand there
    side.factors[used:size] = factors
    return side


def read_numbers(arrays: Arrays, name: str, size: int) -> NDArray[np.int32]:
    """Numbers of users or items, all of which are there."""
    found = arrays.get(name)
    if found is None or found.dtype != np.int32 or found.ndim != 1 or ((found < 0) | (found >= size)).any():
        raise corrupt(f"{name} must be numbers below {size}")
    return found.copy()


def read_side(shape: Shape, arrays: Arrays, name: str, size: int, numbers: NDArray[np.int32]) -> Side:
    """Users, or items, of a file; `numbers` are those of all ratings."""
    factors, sums = read_array(arrays, f"{name}.factors", 2), read_array(arrays, f"{name}.sums", 1)
    averages = read_array(arrays, f"{name}.averages", 2) if shape.averaging else np.zeros((size, 0))
    steps, counts = arrays.get(f"{name}.steps"), np.bincount(numbers, minlength=size).astype(np.int64)
    if steps is None or steps.dtype != np.int64 or steps.shape != (size,) or (steps < counts).any():
        raise corrupt(f"{name}.steps must be whole numbers, at least those of different ratings")
    if factors.shape != (size, shape.k) or sums.shape != (size,) or (counts < 1).any():
        raise corrupt(f"the arrays of its {name} do not fit together")
    if averages.shape != (size, shape.k if shape.averaging else 0):
        raise corrupt(f"the averages of its {name} do not fit together")
    return Side(factors, averages, sums, counts, steps.copy())
