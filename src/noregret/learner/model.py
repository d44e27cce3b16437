"""The model: all that a rule learner knows, as passive data.

Encoding, transactions, merging, explaining and the model file work on it; none of them knows the learner around it.
"""

from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Block, SparseBlock
from noregret.data.labels import Labels
from noregret.errors import BadValue
from noregret.features.feature_selectors import FeatureSelectors
from noregret.features.fitted import FittedTransform
from noregret.features.hashing import HashedNames
from noregret.features.names import Names
from noregret.features.scaling import Scaling
from noregret.learner.config import Config
from noregret.learner.recent_scores import RecentScores
from noregret.learner.transform_loops import start_transforms
from noregret.rules.rule_card import RuleCard
from noregret.state.growth import bank_of, copy_state, grow, memory_needed
from noregret.state.guarded_round import MISTAKES, ROUNDS, UPDATES
from noregret.state.savepoint import Savepoint
from noregret.state.space import Shape, Space, enlarge, physical_memory
from noregret.tasks.task import Task

FULL_LIMIT = 5000  # a full covariance of more features than this would take gigabytes
Algebra = Literal["reference", "dense", "sparse", "kernel"]


@dataclass
class Model:
    """What a rule learner knows. `arrays` is the state of the rule, in the shape of `space`; None before any round."""

    config: Config
    task: Task
    algebra: str | None
    labels: Labels
    names: Names | HashedNames
    selectors: FeatureSelectors
    transforms: list[FittedTransform]
    totals: NDArray[np.int64]  # rounds, updates, mistakes: compiled rounds count themselves
    class_counts: NDArray[np.int64]  # rounds of every class, where classes are balanced
    arrays: Any = None
    space: Space | None = None
    constant: float = 0.0  # the value of the constant feature, where the first row decides it; 0 before
    gamma: float = 0.0  # of a kernel, where the first row decides it; 0 before
    dense_rows: bool = False  # whether the first rows of a kernel learner were dense: then its supports are, too
    columns: int = 0  # of dense rows that were learned, where a transform makes other features of them; 0 before
    recent: RecentScores | None = None  # of the last rounds, where probabilities are calibrated on them

    @classmethod
    def new(cls, config: Config) -> "Model":
        """A model that has learned nothing."""
        labels, selectors = Labels(config.classes), FeatureSelectors(config.transforms.group_names)
        task = config.task
        calibrated = task.no_probabilities is None and not task.scores_are_log_odds and not task.queries_labels
        return cls(
            config=config,
            task=config.task.for_classes(labels),
            algebra=config.algebra,
            labels=labels,
            names=Names() if config.bits is None else HashedNames(config.bits),
            selectors=selectors,
            transforms=start_transforms(config, selectors),
            totals=np.zeros(3, np.int64),
            class_counts=np.zeros(0, np.int64),
            recent=RecentScores() if calibrated else None,
        )

    @property
    def card(self) -> RuleCard:
        return self.config.card

    @property
    def label(self) -> str:
        """What it is, in a few words."""
        options = "".join(f", {name}={value!r}" for name, value in sorted(self.config.given.items()))
        return f"{self.card.name}{options} ({self.task.name})"

    @property
    def shape(self) -> Shape:
        """The fields and counters of the state."""
        return self.config.state_shape

    @property
    def known_space(self) -> Space:
        """The space of a state that exists."""
        assert self.space is not None
        return self.space

    @property
    def rounds(self) -> int:
        return int(self.totals[ROUNDS])

    @property
    def updates(self) -> int:
        return int(self.totals[UPDATES])

    @property
    def mistakes(self) -> int:
        return int(self.totals[MISTAKES])

    def counts(self) -> tuple[int, int, int]:
        """Rounds, updates and mistakes, for those who ask often."""
        rounds, updates, mistakes = self.totals.tolist()
        return rounds, updates, mistakes

    @property
    def bank(self) -> Any:
        """The supports of a kernel learner."""
        return bank_of(self.arrays)

    @property
    def full_covariance(self) -> bool:
        return self.card.keeps_covariance and self.config.covariance == "full"

    @property
    def scaling(self) -> Scaling | None:
        """What `scale=True` asked for: the last of the transforms."""
        last = self.transforms[-1] if self.config.scale else None
        return last if isinstance(last, Scaling) else None

    @property
    def learned_features(self) -> int:
        """How many features have weights, not counting the bias."""
        return 0 if self.space is None else self.space.features - self.config.bias

    @property
    def makes_features(self) -> bool:
        """Whether a transform makes features of features; it numbers them itself."""
        return any(transform.output_width() is not None for transform in self.transforms)

    @property
    def scores_unknown(self) -> bool:
        """Whether a feature never learned can move a score: weights do not start at zero, or a score is no w.x."""
        starts = any(field.kind == "vector" and field.start != 0.0 for field in self.card.state.values())
        starts = starts or self.task.scores_unknown or self.config.numbers.get("random_start", 0.0) > 0.0
        shares = any(field.kind == "log_weights" for field in self.card.state.values())  # every feature has a part
        return starts or shares or self.algebra == "kernel" or self.card.score is not None

    def empty_space(self, algebra: str) -> Space:
        """The space of an empty state."""
        space = self.config.space(algebra, self.dense_rows)
        return replace(space, shape=self.kernel_params)

    @property
    def kernel_params(self) -> tuple[float, float, float]:
        """gamma, coef0 and degree of the kernel; gamma is 1 until a row decides it."""
        gamma, coef0, degree = self.config.kernel_params
        return gamma or self.gamma or 1.0, coef0, degree

    def recent_cells(self, columns: int) -> NDArray[np.float64]:
        """Where compiled rounds with so many scores record them; empty where they do not."""
        fits = self.recent is not None and self.recent.columns == columns
        return self.recent.cells if self.recent is not None and fits else np.zeros(0)

    def choose_algebra(self, block: Block) -> str:
        """The algebra; the first data decide it, unless it was asked for."""
        if self.algebra is None:
            self.algebra = "sparse" if isinstance(block, SparseBlock) else "dense"
        return self.algebra

    def feature_names(self) -> list[Any]:
        """The features that have weights, by name or number: those of the rows, or what transforms make of them."""
        names = self.names.as_list()
        namer: Callable[[int], Any] = (lambda number: names[number]) if self.names.mode == "names" else int
        for transform in self.transforms:
            namer = transform.namer(namer)
        return [namer(number) for number in range(self.learned_features)]

    def check_size(self, space: Space) -> None:
        """Refuse a state that this machine cannot be expected to hold, before it is made."""
        if self.full_covariance and space.features > FULL_LIMIT:
            raise BadValue(f"a full covariance is kept for at most {FULL_LIMIT} features; X has {space.features}")
        if memory_needed(self.shape, space) > physical_memory() // 2:
            raise BadValue(
                f"{space.room} features and {space.classes} classes do not fit in memory; "
                "use feature names (strings), or number the features without gaps"
            )

    def make_room(self, width: int) -> None:
        """Cells for features that are only scored, not counted as learned."""
        space = self.known_space
        larger = enlarge(space, width, space.classes)
        self.check_size(larger)
        larger = replace(larger, features=space.features)
        self.arrays, self.space = grow(self.shape, self.arrays, space, larger), larger

    def copy(self) -> "Model":
        """An independent model in the same state, copied in memory."""
        new = copy(self)
        new.names, new.selectors, new.transforms = deepcopy((self.names, self.selectors, self.transforms))
        new.labels = self.labels.copy()
        new.totals, new.class_counts = self.totals.copy(), self.class_counts.copy()
        new.recent = None if self.recent is None else self.recent.copy()
        if self.arrays is not None:
            new.arrays = copy_state(self.shape, self.arrays, self.known_space)
        return new

    def savepoint(self) -> "ModelSavepoint":
        """The model as it is now, to go back to; the contents of the arrays are added when it is known what changes."""
        return ModelSavepoint(self)


class ModelSavepoint:
    """A model before a call. A rollback can be repeated: one that was interrupted is finished by calling it again."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.task, self.algebra, self.arrays, self.space = model.task, model.algebra, model.arrays, model.space
        self.labels, self.names, self.mode = len(model.labels), model.names.size, model.names.mode
        self.totals, self.class_counts = model.totals.copy(), model.class_counts.copy()
        self.committed = model.labels.committed
        self.constant, self.columns = model.constant, model.columns
        self.dense_rows, self.gamma = model.dense_rows, model.gamma
        self.recent = None if model.recent is None else (model.recent.copy(), model.recent.cells)
        self.contents: Savepoint | None = None
        for transform in model.transforms:
            transform.commit()

    def rollback(self) -> None:
        model = self.model
        if self.contents is not None:
            self.contents.rollback()
        model.task, model.algebra, model.arrays, model.space = self.task, self.algebra, self.arrays, self.space
        model.names.mode, model.constant, model.columns = self.mode, self.constant, self.columns
        model.dense_rows, model.gamma = self.dense_rows, self.gamma
        model.totals[:] = self.totals
        model.class_counts, model.labels.committed = self.class_counts, self.committed
        if model.recent is not None and self.recent is not None:
            model.recent.restore(*self.recent)
        model.labels.truncate(self.labels)
        model.names.truncate(self.names)
        for transform in model.transforms:
            transform.rollback()
