"""The subjects of mutants: a learner with everything its card uses, or a file that all learners use."""

import dis
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import noregret as nr
from noregret.rules.losses import Loss
from noregret.rules.specialize import plain_function
from verification.mutants.mutate import Mutant, mutants, text

ROOT = Path(__file__).parents[2]
EVERY = tuple(f"tests/conformance/test_{name}.py" for name in ("twins", "weights", "bounds", "borders"))
FAMILIES = "tests/learners"
ELSEWHERE = frozenset({"dense", "reference", "kernel"})  # a rule is the same text in every algebra
ELSEWHERE_RUN = ("rate", "entry", "place_arrays")  # stands for the schedule of a learner; run compiled only
PREDICTED = "tests/learner/test_predicted_scores.py"
SAVED = "tests/metrics/test_saved_state.py"
METRICS = ("tests/metrics/test_metrics.py", "tests/evaluation/test_race.py", SAVED)

# What is tested by whom, beside learners: a file, its tests, and the learners whose twins play through it.
FILES: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "losses": ("noregret.rules.losses", ("tests/rules/test_losses.py",), ("ogd",)),
    "schedules": ("noregret.rules.schedules", ("tests/learners/test_projections.py",), ("ogd", "perceptron")),
    "row_size": ("noregret.rules.row_size", ("tests/learners/test_row_size.py",), ("ogd", "rda", "perceptron_margin")),
    "projections": ("noregret.algebra.projections", ("tests/learners/test_projections.py",), ("ogd",)),
    "basis": (
        "noregret.algebra.basis",
        ("tests/kernels/test_basis.py", "tests/learners/test_projectron.py", "tests/learners/test_budgeted_pa.py"),
        ("projectron", "projectron_plus_plus", "budgeted_pa"),
    ),
    "binary": (
        "noregret.tasks.binary",
        (
            "tests/tasks/test_universum.py",
            "tests/tasks/test_asking.py",
            "tests/learner/test_labels_and_growth.py",
            PREDICTED,
        ),
        ("pa1", "perceptron_averaged"),
    ),
    "multiclass": (
        "noregret.tasks.multiclass",
        (
            "tests/learner/test_labels_and_growth.py",
            "tests/tasks/test_multiclass.py",
            "tests/tasks/test_asking.py",
            "tests/learners/test_ultraconservative.py",
            PREDICTED,
        ),
        ("pa1", "perceptron_averaged", "pa_all", "perceptron_ultraconservative"),
    ),
    "multilabel": (
        "noregret.tasks.multilabel",
        (
            "tests/tasks/test_multilabel.py",
            "tests/tasks/test_label_sets.py",
            "tests/tasks/test_multilabel_doors.py",
            PREDICTED,
        ),
        (),
    ),
    "regression": ("noregret.tasks.regression", ("tests/tasks/test_regression.py", PREDICTED), ("pa1", "ogd")),
    "one_class": (
        "noregret.tasks.one_class",
        ("tests/tasks/test_one_class.py", "tests/tasks/test_radius_of_rows.py"),
        (),
    ),
    "bandit": ("noregret.tasks.bandit", ("tests/learners/test_bandit.py", "tests/tasks/test_bandit.py"), ()),
    "asking": ("noregret.tasks.label_queries", ("tests/tasks/test_asking.py",), ()),
    "ranking": (
        "noregret.tasks.ranking",
        ("tests/tasks/test_ranking.py", "tests/tasks/test_ranking_metrics.py", PREDICTED),
        (),
    ),
    "orders": ("noregret.metrics.ranking", ("tests/tasks/test_ranking_metrics.py",), ()),
    "hooks": (
        "noregret.tasks.hooks",
        (),
        ("pa1", "ogd", "adagrad", "rda", "arow", "perceptron_averaged", "pa_all"),
    ),
    "basic": ("noregret.metrics.basic", ("tests/metrics/test_metrics.py", "tests/evaluation/test_race.py", SAVED), ()),
    "baselines": (
        "noregret.metrics.baselines",
        ("tests/metrics/test_metrics.py", "tests/evaluation/test_race.py", SAVED),
        (),
    ),
    **{
        f"experts_{name}": (
            f"noregret.experts.{name}",
            tuple(
                f"tests/experts/test_{file}.py" for file in ("bound_values", "expert_weights", "rounding", "theorems")
            ),
            (),
        )
        for name in ("weights", "exponential", "fixed_share", "adahedge", "squint", "leader")
    },
    **{
        f"portfolio_{name}": (
            f"noregret.experts.portfolio.{name}",
            tuple(
                f"tests/experts/portfolio/test_{file}.py"
                for file in ("hindsight", "portfolio_learner", "theorems", "universal")
            ),
            (),
        )
        for name in ("days", "simplex", "constant", "eg_portfolio", "ons", "pamr", "olmar", "universal")
    },
    **{
        name: (
            f"noregret.metrics.{name}",
            tuple(
                f"tests/metrics/test_{file}.py"
                for file in ("adwin", "detector_states", "drift_detectors", "drift_monitor", "drift")
            ),
            (),
        )
        for name in ("adwin", "ddm", "page_hinkley", "sliding_window", "drift")
    },
    "elimination": (
        "noregret.concepts.elimination",
        ("tests/concepts/test_concept_learners.py", "tests/concepts/test_worst_cases.py"),
        (),
    ),
    "tracking": ("noregret.metrics.tracking", ("tests/metrics/test_tracking.py",), ()),
    **{
        name: (f"noregret.adapters.{name}", (f"tests/adapters/test_{name}.py", "tests/adapters/test_pool.py"), ())
        for name in ("pool_votes", "pool_sleep", "pool_probabilities")
    },
    **{
        f"{name}_decoder": (f"noregret.tasks.decoders.{name}", tuple(f"tests/{file}.py" for file in files), ())
        for name, files in {
            "sequence": ("structured/test_sequence_search", "structured/test_tagger"),
            "forward_backward": ("structured/test_crf",),
            "arcs": ("tasks/test_tree_decoders", "structured/test_parser"),
            "projective": ("tasks/test_tree_decoders",),
            "nonprojective": ("tasks/test_tree_decoders",),
            "string": ("structured/test_string_search", "structured/test_transducer"),
        }.items()
    },
    "factored": ("noregret.tasks.factored", ("tests/structured/test_tagger.py", "tests/structured/test_parser.py"), ()),
    "gamma_functions": ("noregret.algebra.gamma_functions", ("tests/decomposition/test_lda.py",), ()),
    "softmax_task": ("noregret.tasks.softmax", ("tests/tasks/test_softmax.py",), ()),
    "crf_task": ("noregret.tasks.crf", ("tests/structured/test_crf.py",), ()),
    **{
        name: (f"noregret.decomposition.{name}", tuple(f"tests/decomposition/test_{file}.py" for file in files), ())
        for name, files in {
            "factors": ("svd", "pca"),
            "factor_changes": ("svd",),
            "row_factors": ("svd",),
            "missing_entries": ("svd",),
            "density": ("pca",),
            "centres": ("kmeans",),
            "atoms": ("dictionary",),
            "lasso_loops": ("dictionary",),
            "document_loops": ("lda",),
            "topic_words": ("topic_words", "lda"),
            "stick_loops": ("hdp",),
            "word_filter": ("word_filter",),
        }.items()
    },
    **{
        f"games_{name}": (
            f"noregret.games.{name}",
            (f"tests/games/test_{file}.py", "tests/games/test_player_files.py"),
            (),
        )
        for name, file in {
            "moves": "rock_paper_scissors",
            "move_predictors": "rock_paper_scissors",
            "matrix_game": "matrix_games",
            "swap_regret": "matrix_games",
            "path_weights": "paths",
            "path_hedge": "paths",
            "path_leader": "paths",
        }.items()
    },
    **{
        f"neural_{name}": (
            f"noregret.neural.{name}",
            tuple(f"tests/neural/test_{file}.py" for file in ("backprop", "hedge", "forgetting", *files)),
            (),
        )
        for name, files in {
            "activations": (),
            "backprop": ("refusals",),
            "inputs": ("refusals",),
            "memory": ("refusals", "network_protocol"),
            "network": ("refusals", "network_protocol"),
            "network_file": ("network_protocol",),
            "optimizers": (),
            "rounds": ("refusals",),
            "sizes": ("refusals",),
        }.items()
    },
    "task_sequence": ("noregret.training.task_sequence", ("tests/training/test_task_sequence.py",), ()),
    "sets": ("noregret.metrics.multilabel", ("tests/tasks/test_multilabel_metrics.py", SAVED), ()),
}


@dataclass(frozen=True)
class Subject:
    """A learner or a file: its mutants, and where its tests are found."""

    name: str
    title: str
    mutants: tuple[Mutant, ...]
    files: tuple[str, ...]
    names: tuple[str, ...]  # tests in tests/conformance are its own if they name one of these
    rule: Any = field(default=None, compare=False)
    algebras: frozenset[str] = frozenset()  # beside the sparse one, where alone a rule is tried that can play there

    def may_own(self, test: str) -> bool:
        """Whether a test could be one of its own, by its name alone."""
        file, _, rest = test.partition("::")
        if file not in EVERY:
            return file in self.files
        words = set(re.findall(r"\w+", rest.partition("[")[2]))
        return bool(words & set(self.names)) and not words & ELSEWHERE - self.algebras


def functions_of(card: nr.RuleCard) -> Iterator[FunctionType]:
    """The rule, its hooks, its options, its bounds and its check."""
    options = (one for choice in card.choices.values() for one in choice.among.values() if not isinstance(one, Loss))
    callers = (choice.own.through for choice in card.choices.values() if choice.own is not None)
    theorems = [function for one in card.guarantees for function in (one.bound, one.requires)]
    for one in (*card.functions(), *options, *callers, *theorems, card.check):
        if isinstance(one, FunctionType):
            yield one


def global_names(function: FunctionType) -> set[str]:
    """What a function takes from its module; p.eta is no function eta."""
    return {str(one.argval) for one in dis.get_instructions(function) if one.opname == "LOAD_GLOBAL"}


def reached(card: nr.RuleCard) -> dict[Path, set[str]]:
    """Functions and constants in the files of learners that a card leads to."""
    found: dict[Path, set[str]] = {}
    waiting, seen = list(functions_of(card)), set[Any]()
    while waiting:
        one = waiting.pop()
        if one in seen or not one.__module__.startswith("noregret.learners."):
            continue
        seen.add(one)
        file = Path(inspect.getsourcefile(one) or "")
        found.setdefault(file, set()).add(one.__name__)
        for name in global_names(one):
            thing = plain_function(one.__globals__.get(name))
            if isinstance(thing, FunctionType):
                waiting.append(thing)
            elif name in text(file).constants:
                found[file].add(name)
    return found


def elsewhere(card: nr.RuleCard) -> frozenset[str]:
    return frozenset() if "sparse" in card.algebras else frozenset(card.algebras)


def learner(card: nr.RuleCard) -> Subject:
    changed = [one for file, owners in reached(card).items() for one in mutants(file, owners)]
    quoted = f'"{card.name}"'
    families = [
        file.relative_to(ROOT).as_posix()
        for file in sorted((ROOT / FAMILIES).glob("test_*.py"))
        if quoted in file.read_text(encoding="utf-8")
    ]
    return Subject(card.name, card.name, tuple(changed), tuple(families), (card.name,), card.rule, elsewhere(card))


def shared(name: str) -> Subject:
    module, files, names = FILES[name]
    file = Path(import_module(module).__file__ or "")
    made = [one for one in mutants(file) if one.owner not in ELSEWHERE_RUN]
    if module.startswith("noregret.tasks."):
        made = [one for one in made if "." not in one.owner]  # the rounds; the methods of a task code labels
    return Subject(name, file.relative_to(ROOT / "src/noregret").as_posix(), tuple(made), files, names)


def subjects() -> Mapping[str, Callable[[], Subject]]:
    """All there are, each made when it is asked for."""
    cards = [card for card in nr.learners().rules.values() if card.module.startswith("noregret.learners.")]
    learners = {card.name: (lambda card=card: learner(card)) for card in cards}
    return {**learners, **{name: (lambda name=name: shared(name)) for name in FILES}}
