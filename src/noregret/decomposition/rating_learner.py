"""The base of learners of ratings: users and items of any names in, ratings out, and what to recommend.

A subclass declares its card, and says by `plan` what its loop learns. This class reads rows, checks ratings, undoes
calls that fail, and has the results and the model file.
"""

import time
from abc import abstractmethod
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.labels import targets
from noregret.data.transcript import Transcript
from noregret.decomposition.largest import find_largest
from noregret.decomposition.rating_columns import ITEM, USER, Id, check_id
from noregret.decomposition.rating_loops import AVERAGING, ERRORS, PLAYED, SUM, Pairs, Rounds
from noregret.decomposition.rating_names import Numbers, find_numbers
from noregret.decomposition.rating_rows import read_one, read_pair, read_ratings
from noregret.decomposition.rating_state import RatingState, Shape, find_touched
from noregret.decomposition.rating_stream import RowReader
from noregret.decomposition.rating_table import NOTHING
from noregret.errors import BadValue, NotLearned
from noregret.features.frames import labels_to_list
from noregret.learner.arguments import check_integer
from noregret.learner.base_learner import BaseLearner
from noregret.learner.change import Undo
from noregret.learner.header_fields import corrupt, read_list
from noregret.learner.model_file import Arrays, FindCard, Header
from noregret.rules.parameters import Param

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
OPTIONS = ("task", "seed", "native")
LARGEST_SEED = 2**63
PLAIN = {float, int, np.float64, np.float32, np.int64, np.int32}  # types of ratings of single rows
SHOWN = 10  # items
SCALE = {
    "minimum": Param(1.0, at_least=-1e6, at_most=1e6, about="the lowest rating of the scale",
                     untuned="it belongs to the data"),
    "maximum": Param(5.0, at_least=-1e6, at_most=1e6, about="the highest rating of the scale",
                     untuned="it belongs to the data"),
}  # fmt: skip
DAMPING = Param(4.0, above=0.0, search=(0.5, 50.0, "log"), about="as how many ratings without a difference from the "
                "mean count in the bias of a user or an item")  # fmt: skip


class Plan(NamedTuple):
    """What the loop learns: how many factors, and the numbers that it reads."""

    k: int
    numbers: Floats


class Progress(NamedTuple):
    """The root mean squared error of predictions before ratings were learned, beside those of two baselines."""

    rmse: float
    biases: float  # of the mean with the damped biases of user and item
    mean: float  # of the mean of all ratings so far


class RatingLearner(BaseLearner):
    """A learner of ratings, which may come in any order, from users and about items that are new at any time."""

    kind: ClassVar[str]
    shared = ("card",)

    def __init__(self, minimum: float, maximum: float, options: dict[str, Any]) -> None:
        if not minimum < maximum:
            raise BadValue(f"{self.card.name}: minimum must be below maximum, not {minimum:g} and {maximum:g}")
        self.minimum, self.maximum = minimum, maximum
        self.seed = check_integer("seed", options.get("seed", 0), 0)
        if self.seed >= LARGEST_SEED:
            raise BadValue(f"seed must be below 2^63, not {self.seed}")
        self.native = options.get("native", True)
        if not isinstance(self.native, bool):
            raise BadValue(f"native must be True or False, not {self.native!r}")
        self.reader = RowReader()  # keeps nothing but names of streams that it has read
        self.plan = self.make_plan()
        self.user_numbers, self.item_numbers = Numbers(), Numbers()
        averaging = bool(self.plan.numbers[AVERAGING])
        self.state = RatingState(Shape(self.plan.k, averaging, self.seed, self.native))
        super().__init__()

    @abstractmethod
    def make_plan(self) -> Plan:
        """What the loop learns, by the parameters."""

    @property
    def task(self) -> str:
        return "recommendation"

    @property
    def rounds(self) -> int:
        """How many ratings it has learned, also those that replaced others."""
        return int(self.state.totals[PLAYED])

    @rounds.setter
    def rounds(self, rounds: int) -> None:
        self.state.totals[PLAYED] = rounds

    @property
    def updates(self) -> int:
        """As many as rounds."""
        return self.rounds

    @updates.setter
    def updates(self, updates: int) -> None:
        self.rounds = updates

    def __repr__(self) -> str:
        sizes = f"{len(self.user_numbers)} users, {len(self.item_numbers)} items"
        return f"<{self.card.name}: {self.task}, {self.rounds} rounds, {sizes}>"

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict every rating, then learn it; all of them, or none. The loss is the squared error.

        X has users and items, y the ratings, which may also stand in X.
        """
        began = time.perf_counter()
        for name, given in (("weight", weight), ("query", query)):
            if given is not None:
                raise BadValue(f"{self.card.name} does not support {name}=: leave it out")
        users, items, beside = read_ratings(X, self.reader)
        truth = self.check_ratings(beside, labels_to_list(y), len(users))
        with self._lock:
            self._change.settle()
            undos = list[Undo]()

            def save() -> Undo:
                users_before, items_before = len(self.user_numbers), len(self.item_numbers)

                def undo() -> None:
                    for one in reversed(undos):
                        one()
                    self.user_numbers.truncate(users_before)
                    self.item_numbers.truncate(items_before)

                return undo

            def act() -> Floats:
                rounds = self.number_rounds(users, items, (truth - self.minimum) / (self.maximum - self.minimum))
                touched = find_touched(rounds.users), find_touched(rounds.items)
                undos.append(self.state.savepoint(rounds, touched))
                self.learn_rounds(rounds, touched)
                return self.to_ratings(rounds.predictions)

            predictions = self._change.save_and_run(save, act)
        none = np.zeros(truth.size, bool)
        seconds = time.perf_counter() - began
        return Transcript(predictions, predictions, (predictions - truth) ** 2, none, ~none, truth, seconds)

    def error_loss(self, errors: Floats, deviation: Floats) -> Floats:
        """The loss of predictions that are off by these errors."""
        return np.asarray(errors**2)

    def check_ratings(self, beside: list[Any] | None, y: Any, rows: int) -> Floats:
        """The ratings as numbers, each within the scale; an error names the row."""
        if (y is None) == (beside is None):
            raise BadValue("there are no ratings; give them as y, or as the column rating" if y is None else
                           "ratings are given twice: as y, and beside users and items; in a table, name them as the "
                           "label (--label rating)")  # fmt: skip
        truth = targets(beside if y is None else y, "rating")
        if truth.size != rows:
            raise BadValue(f"there are {rows} rows and {truth.size} ratings")
        outside = np.flatnonzero((truth < self.minimum) | (truth > self.maximum))
        if outside.size:
            row = int(outside[0])
            raise BadValue(f"row {row}: the rating {truth[row]:g} is outside of the scale from {self.minimum:g} to "
                           f"{self.maximum:g}; set minimum and maximum (--scale LOW HIGH)", row=row)  # fmt: skip
        return truth

    def number_rounds(self, users: list[Id], items: list[Id], shares: Floats) -> Rounds:
        """Rounds with numbers for users and items; new ones get the next."""
        who, what = self.user_numbers.number(users, USER), self.item_numbers.number(items, ITEM)
        size = len(users)
        return Rounds(who, what, shares, np.zeros(size), np.full(size, NOTHING, np.int64), np.zeros(size))

    def learn_rounds(self, rounds: Rounds, touched: tuple[Integers, Integers]) -> None:
        """Learn rounds of these users and items, and refuse what overflows."""
        size = rounds.users.size
        self.state.grow(len(self.user_numbers), len(self.item_numbers), size)
        if not self.state.learn(rounds, touched, self.plan.numbers):
            raise BadValue(f"{self.card.name}: the factors became infinite; take a smaller eta, or a larger penalty")

    def to_ratings(self, shares: Floats) -> Floats:
        return np.asarray(self.minimum + (self.maximum - self.minimum) * shares)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one rating."""
        if weight is None and self.learn_plain(x, y):
            return self
        return self.learn(read_one(x), None if y is None else [y], weight)

    def learn_plain(self, x: Any, y: Any) -> bool:
        """Learn a usual row; False, with nothing changed, where `learn` must."""
        row = read_pair(x, y)
        if row is None or not self.native:
            return False
        user, item, rating = row
        if type(rating) not in PLAIN or not self.minimum <= rating <= self.maximum:
            return False
        share = (float(rating) - self.minimum) / (self.maximum - self.minimum)
        with self._lock:
            self._change.settle()
            u, i = self.user_numbers.get(user), self.item_numbers.get(item)
            if u is None or i is None:
                return self.learn_new(user, item, share)
            return self.state.learn_one(u, i, share, self.plan.numbers)

    def learn_new(self, user: Id, item: Id, share: float) -> bool:
        """Learn a rating of a user or an item that is new; False, with nothing changed, where `learn` must."""
        state, undo = self.state, None

        def act() -> bool:
            nonlocal undo
            undo = self.undo_of_one()
            u, i = self.user_numbers[user], self.item_numbers[item]
            state.grow(len(self.user_numbers), len(self.item_numbers), 1)
            learned = state.learn_one(u, i, share, self.plan.numbers)
            if not learned:
                undo()
            return learned

        try:
            return self._change.run(act, lambda: undo and undo())
        except OverflowError:  # a name that `learn` refuses
            return False

    def undo_of_one(self) -> Undo:
        """How to go back to now if a single rating is not learned."""
        state, sizes = self.state, (len(self.user_numbers), len(self.item_numbers))
        rounds, go_back = state.totals[PLAYED], state.remember_arrays()

        def undo() -> None:
            if state.totals[PLAYED] == rounds:
                go_back()
                self.user_numbers.truncate(sizes[0])
                self.item_numbers.truncate(sizes[1])

        return undo

    # ---- predictions -------------------------------------------------------------------------------------------------

    def predict(self, X: RowsLike) -> NDArray[np.float64]:
        """The rating of every row; a user or an item that is not known counts as one without a bias."""
        users, items, _ = read_ratings(X, self.reader)
        with self._lock:
            self._change.settle()
            self.require_ratings()
            return self.score(find_numbers(self.user_numbers, users), find_numbers(self.item_numbers, items))

    def predict_one(self, x: RowLike) -> Any:
        """The rating of one row; None before anything was learned."""
        row = read_pair(x)
        found = None if row is None or not self.native else self.predict_plain(row[0], row[1])
        if found is not None:
            return found
        with suppress(NotLearned):
            return float(self.predict(read_one(x))[0])
        return None

    def predict_plain(self, user: Id, item: Id) -> float | None:
        """The rating of a pair; None where `predict` must find it."""
        with self._lock:
            self._change.settle()
            if not self.user_numbers:
                return None
            u, i = self.user_numbers.get(user, NOTHING), self.item_numbers.get(item, NOTHING)
            share = self.state.predict_one(u, i, self.plan.numbers)
            return None if share is None else self.minimum + (self.maximum - self.minimum) * share

    def score(self, users: Integers, items: Integers) -> Floats:
        """The ratings of users and items by number, NOTHING for those that are not known."""
        pairs = Pairs(users, items, np.zeros(users.size))
        self.state.predict(pairs, self.plan.numbers)
        if not np.isfinite(pairs.predictions).all():
            raise BadValue(f"{self.card.name}: a prediction is not finite: the factors are too large")
        return self.to_ratings(pairs.predictions)

    def require_ratings(self) -> None:
        if not self.rounds:
            raise NotLearned(f"{self.card.name} has not seen a rating yet; learn something first")

    def recommend(self, user: Any, n: int = 10, again: bool = False) -> list[tuple[Id, float]]:
        """The n items with the highest predicted ratings for a user, with these, the highest first.

        Items that the user has rated are left out, unless `again` is true. Of equal ratings the item seen first leads.
        For a user who is not known these are the items that are good for everyone.
        """
        count = check_integer("n", n, 1)
        name = check_id(user, "user")
        with self._lock:
            self._change.settle()
            self.require_ratings()
            number = self.user_numbers.get(name, NOTHING)
            every = again or number == NOTHING
            items = np.arange(self.state.items) if every else self.state.find_unrated(number)
            found = self.score(np.full(items.size, number), items)
            best = find_largest(found, count)
            names = list(self.item_numbers)
            return [(names[items[at]], float(found[at])) for at in best]

    def ratings_of(self, user: Any) -> dict[Id, float]:
        """The ratings of a user by item, the first one first; the last one where an item was rated again."""
        with self._lock:
            self._change.settle()
            number, known = self.user_numbers.get(check_id(user, "user"), NOTHING), self.state.known
            numbers = self.state.find_ratings(number)[::-1] if number >= 0 else np.zeros(0, np.int64)
            names = list(self.item_numbers)
            values = self.to_ratings(known.ratings)
            return {names[known.items[n]]: float(values[n]) for n in numbers.tolist()}

    @property
    def users(self) -> list[Id]:
        """All users, in the order of their first ratings."""
        with self._lock:
            self._change.settle()
            return list(self.user_numbers)

    @property
    def items(self) -> list[Id]:
        """All items, in the order of their first ratings."""
        with self._lock:
            self._change.settle()
            return list(self.item_numbers)

    @property
    def mean(self) -> float:
        """The mean of all ratings; of one that was replaced, only the last."""
        with self._lock:
            self._change.settle()
            self.require_ratings()
            return float(self.to_ratings(self.state.totals[[SUM]] / self.state.ratings)[0])

    @property
    def progress(self) -> Progress:
        """The root mean squared error of all ratings so far, each predicted before it was learned."""
        with self._lock:
            self._change.settle()
            squares = self.state.totals[ERRORS] / max(self.rounds, 1)
            return Progress(*((self.maximum - self.minimum) * np.sqrt(squares)).tolist())

    def describe_results(self) -> list[str]:
        """How much it has seen, for `noregret show`."""
        with self._lock:
            self._change.settle()
            if not self.rounds:
                return []
            sizes = f"{len(self.user_numbers):,} users, {len(self.item_numbers):,} items"
            ratings = f"{self.state.ratings:,} ratings; mean rating {self.mean:.4g}"
            errors = "RMSE before learning {:.4g}, of the biases alone {:.4g}, of the mean {:.4g}".format(
                *self.progress
            )
            return [f"{sizes}, {ratings} on a scale from {self.minimum:g} to {self.maximum:g}", errors]

    def commands(self, path: str) -> list[str]:
        """What can be done with its model on the command line."""
        return [f"noregret recommend {path} --user ID", f"noregret recommend MORE_RATINGS --resume {path}"]

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        with self._lock:
            self._change.settle()
            options = {"seed": self.seed, "native": self.native}
            names = {"users": list(self.user_numbers), "items": list(self.item_numbers)}
            return {"params": self.params, "options": options, **names, **self.dump_counts()}, self.state.dump()

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        params, options = header.get("params"), header.get("options")
        if not isinstance(params, dict) or not isinstance(options, dict):
            raise corrupt("params and options must be objects")
        if set(params) - set(cls.card.params):
            raise corrupt(f"{cls.card.name} has no such parameters")
        try:
            new: Self = cls.card.build(**params, **options)  # type: ignore[attr-defined]
        except (BadValue, TypeError) as error:
            raise corrupt(str(error)) from None
        for numbers, what in ((new.user_numbers, "users"), (new.item_numbers, "items")):
            names = read_list(header, what)
            if not set(map(type, names)) <= {str, int} or len(set(names)) < len(names):
                raise corrupt(f"{what} must be different texts or whole numbers")
            numbers.update((name, number) for number, name in enumerate(names))
        new.state = RatingState.restore(new.state.shape, arrays, len(new.user_numbers), len(new.item_numbers))
        new.restore_counts(header)
        steps = [sum(side.steps.tolist()) for side in (new.state.of_users, new.state.of_items)]
        if not steps[0] == steps[1] == header["rounds"] == new.updates:
            raise corrupt("its rounds are not those of its users and items")
        return new
