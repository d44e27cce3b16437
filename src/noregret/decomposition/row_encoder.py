"""Rows without labels as a learner of a decomposition reads them: names or columns, transforms, growing features."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from noregret.cached_property import cached_property
from noregret.data.blocks import Block, DenseBlock, Rows, SparseBlock, narrow, sort_rows, verify
from noregret.data.inputs import RowsLike
from noregret.errors import BadValue
from noregret.features.feature_selectors import FeatureSelectors
from noregret.features.frames import convert_frame
from noregret.features.hashing import HashedNames
from noregret.features.names import Names
from noregret.features.transforms import Pipeline, as_pipeline
from noregret.learner.arguments import check_integer
from noregret.learner.columns import FIXED, GROW, check_option
from noregret.learner.encode import number_features, transform_rows
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header
from noregret.learner.name_file import dump_names, restore_names
from noregret.learner.state_options import check_bits
from noregret.learner.transform_loops import start_transforms
from noregret.rules.card import Card

ROW_OPTIONS = ("transforms", "scale", "bits", "columns", "native", "seed")
"""The options of `make` that say how rows are read; every card of a decomposition takes them."""


@dataclass(frozen=True)
class RowConfig:
    """How rows are read."""

    transforms: Pipeline
    scale: bool
    bits: int | None
    grows: bool
    native: bool
    seed: int
    missing: bool = False  # whether the learner itself can handle missing values

    @classmethod
    def of(cls, options: Mapping[str, Any], missing: bool = False) -> Self:
        """The options of a learner, checked."""
        switches = {name: options.get(name, usual) for name, usual in (("scale", False), ("native", True))}
        for name, value in switches.items():
            if not isinstance(value, bool):
                raise BadValue(f"{name} must be True or False, not {value!r}")
        return cls(
            transforms=as_pipeline(options.get("transforms")),
            bits=check_bits(options.get("bits")),
            grows=check_option(options.get("columns")),
            seed=check_integer("seed", options.get("seed", 0), 0),
            missing=missing,
            **switches,
        )

    @cached_property
    def allows_missing(self) -> bool:
        return self.missing or any(step.kind.accepts_missing for step in self.transforms)

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults, as `make` takes them and a model file keeps them."""
        found = {field.name: getattr(self, field.name) for field in fields(self) if field.name in ROW_OPTIONS}
        found |= {"transforms": [str(step) for step in self.transforms], "columns": GROW if self.grows else FIXED}
        usual = {"transforms": [], "scale": False, "bits": None, "columns": FIXED, "native": True, "seed": 0}
        return {name: value for name, value in found.items() if value != usual[name]}


class RowEncoder:
    """Turns rows into blocks. It learns feature names and what transforms know, and can undo that.

    The number of features grows row by row, however the rows are batched.
    """

    def __init__(self, card: Card, config: RowConfig) -> None:
        self.card, self.config = card, config
        self.names: Names | HashedNames = Names() if config.bits is None else HashedNames(config.bits)
        self.selectors = FeatureSelectors(config.transforms.group_names)
        self.transforms = start_transforms(config, self.selectors)
        for transform in self.transforms:
            transform.passes_missing = config.missing and not transform.accepts_missing
        self.features = 0  # that the rows learned so far have
        self.columns = 0
        self.dense = False  # whether the rows learned so far were dense

    @property
    def algebra(self) -> str | None:
        return None if not self.features else "dense" if self.dense else "sparse"

    @property
    def learned_features(self) -> int:
        return self.features

    @property
    def makes_features(self) -> bool:
        return any(transform.output_width() is not None for transform in self.transforms)

    def encode(self, X: RowsLike, learn: bool) -> tuple[Block, NDArray[np.int64]]:
        """The rows as a checked block, and how many features are known at each of them.

        Without `learn`, features that are not known are left out.
        """
        declared = hasattr(X, "tocsr") and not self.makes_features  # a sparse matrix tells how many columns it has
        X = convert_frame(X, self.config.allows_missing)
        if isinstance(X, (list, tuple, Rows)) and not len(X):
            empty = SparseBlock(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0), self.features)
            return empty, np.zeros(0, np.int64)
        block = transform_rows(self, number_features(self, X, learn, learn), learn, learn)
        block = verify_observed(block) if self.config.missing else verify(block)
        if isinstance(block, SparseBlock) and isinstance(X, (list, tuple)):  # features of a dict come in any order
            block = block if is_sorted(block) else sort_rows(block)
        if not learn:
            return narrow(block, self.features), np.full(block.rows, self.features, np.int64)
        if not self.features and block.rows:
            self.dense = isinstance(block, DenseBlock)
        widths = self.find_widths(block, declared)
        self.features = int(widths[-1]) if widths.size else self.features
        return block, widths

    def find_widths(self, block: Block, declared: bool) -> NDArray[np.int64]:
        """How many features are known at each row: those of the rows before and its own, not those of later rows."""
        if isinstance(block, DenseBlock) or declared or isinstance(self.names, HashedNames):
            return np.full(block.rows, max(self.features, block.width), np.int64)
        last = np.full(block.rows, self.features, np.int64)
        filled = np.flatnonzero(np.diff(block.indptr))
        last[filled] = np.maximum(last[filled], block.idx[block.indptr[filled + 1] - 1].astype(np.int64) + 1)
        return np.maximum.accumulate(last)

    def savepoint(self) -> Callable[[], None]:
        """How to forget what the next call learns; it may be called more than once."""
        size, mode, known = self.names.size, self.names.mode, (self.features, self.columns, self.dense)
        for transform in self.transforms:
            transform.commit()

        def undo() -> None:
            self.names.truncate(size)
            self.names.mode = mode
            self.features, self.columns, self.dense = known
            for transform in self.transforms:
                transform.rollback()

        return undo

    def feature_names(self) -> list[Any]:
        """The features by name or number: those of the rows, or what transforms make of them."""
        names = self.names.as_list() if self.names.mode == "names" else None
        namer: Callable[[int], Any] = int if names is None else names.__getitem__
        for transform in self.transforms:
            namer = transform.namer(namer)
        return [namer(number) for number in range(self.features)]

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        arrays: Arrays = {}
        for number, transform in enumerate(self.transforms):
            arrays |= {f"transform.{number}.{name}": array for name, array in transform.dump().items()}
        if isinstance(self.names, HashedNames):
            arrays |= self.names.dump()
        elif self.names.mode == "names":
            arrays |= dump_names(self.names)
        header = {"names": self.names.mode, "features": self.features, "columns": self.columns, "dense": self.dense}
        return header, arrays

    def restore(self, header: Any, arrays: Arrays) -> None:
        """Take what `dump` wrote into a fresh encoder; everything is checked."""
        if not isinstance(header, dict) or not isinstance(header.get("dense"), bool):
            raise corrupt("the description of its rows is missing")
        mode = header.get("names")
        if mode not in ("hashed", None) if self.config.bits is not None else mode not in ("names", "columns", None):
            raise corrupt("names must say how features are known")
        self.features, self.columns = read_count(header, "features", 2**31 - 1), read_count(header, "columns", 2**31)
        self.dense, self.names.mode = header["dense"], mode
        if mode is None and self.features and self.config.bits is None:
            raise corrupt("it has features, but not how they are known")
        known: int | None = None
        if isinstance(self.names, HashedNames):
            if not self.names.restore(arrays, self.features == self.names.cells):
                raise corrupt("the marks of its names do not fit together")
        elif mode == "names":
            known = restore_names(self.names, arrays)
        for number, transform in enumerate(self.transforms):
            start = f"transform.{number}."
            saved = {name.removeprefix(start): part for name, part in arrays.items() if name.startswith(start)}
            if not transform.restore(saved, known):
                raise corrupt(f"what {transform.name} has seen does not fit together")
            known = known if transform.output_width() is None else transform.output_width()
        if known is not None and known < self.features:
            raise corrupt("names and features do not fit")


def is_sorted(block: SparseBlock) -> bool:
    """Whether the features of every row are in order, each of them once."""
    used = int(block.indptr[-1])
    rising = block.idx[1:used] > block.idx[: max(used - 1, 0)]
    if block.rows > 1:
        starts = block.indptr[1:-1]
        rising[starts[(starts > 0) & (starts < used)] - 1] = True
    return bool(rising.all())


def verify_observed(block: Block) -> Block:
    """The block with all checks made, where values that are NaN are missing."""
    if isinstance(block, DenseBlock) or block.ready:
        return block
    block = sort_rows(block._replace(idx=block.idx.copy()))
    verify(block._replace(val=np.nan_to_num(block.val, posinf=np.inf, neginf=-np.inf)))
    return block._replace(ready=True)
