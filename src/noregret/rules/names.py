"""The names that cards, tasks and algebras share, as types."""

from typing import Literal, TypeAlias, get_args

TaskName: TypeAlias = Literal[
    "binary", "multiclass", "regression", "multilabel", "ranking", "one-class", "bandit",
    "convex", "experts", "structured", "factored", "unsupervised",
    "recommendation",
]  # fmt: skip
AlgebraName: TypeAlias = Literal["sparse", "dense", "kernel", "reference"]
RuleKind: TypeAlias = Literal["margin", "gradient", "coordinate", "prototype", "bandit"]
MergeLaw: TypeAlias = Literal["exact", "bounded", "heuristic", "none"]
MergeMethod: TypeAlias = Literal["mix", "add", "pool", "accumulate", "none"]
Scale: TypeAlias = Literal["linear", "log"]

TASKS: tuple[TaskName, ...] = get_args(TaskName)
MERGE_LAWS: tuple[MergeLaw, ...] = get_args(MergeLaw)
MERGE_METHODS: tuple[MergeMethod, ...] = get_args(MergeMethod)
SCALES: tuple[Scale, ...] = get_args(Scale)
