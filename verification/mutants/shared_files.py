"""Files that several learners use, or that are no rules: what is tested by whom."""

PREDICTED = "tests/learner/test_predicted_scores.py"
SAVED = "tests/metrics/test_saved_state.py"

PROTOCOL = ("protocol",)
EXTREME = "extreme_rows"
ROWS = ("svd", "pca", *PROTOCOL)
CLUSTERS = ("kmeans", "dictionary", "density_files", "row_forms", EXTREME, *PROTOCOL)
DENSITIES = (
    *("density_learner", "gaussian", "mixture", "kernel_density", "density_files", "row_forms"),
    *(EXTREME, *PROTOCOL),
)
TOPICS = ("documents", "topic_loops", "topic_model", "lda", "hdp", "topic_words", "topic_protocol")
COMPONENTS = ("steady", EXTREME, "component_files", "row_learners", "lists_and_merges", *PROTOCOL)
RATINGS = (
    "factorisation",
    *(
        f"rating_{name}"
        for name in ("rows", "stream", "table", "learner", "state", "one", "short_way", "files", "protocol")
    ),
)
DECOMPOSITION: dict[str, tuple[str, ...]] = {
    "atoms": (EXTREME, "atoms", "dictionary", "row_forms"),
    "base": (
        *(
            "steady",
            *ROWS,
            "kmeans",
            "gaussian",
            "lda",
            "row_baselines",
            "mini_batches",
            "row_learners",
            "lists_and_merges",
        ),
        *("topic_model", "before_learners", "word_filter"),
    ),
    "block_rounds": ("steady", "mini_batches", "row_learners", "lists_and_merges", *PROTOCOL),
    "centres": ("centres", *CLUSTERS),
    "component_table": ("row_learners", "lists_and_merges"),
    "decomposed": ("before_learners", "steady", "row_learners", "lists_and_merges", *PROTOCOL),
    "density": (EXTREME, "density", "pca"),
    "density_learner": ("lists_and_merges", *DENSITIES),
    "dictionary": ("sparse_codes", "kept", *CLUSTERS),
    "document_loops": TOPICS,
    "documents": TOPICS,
    "factor_changes": ("steady", "factors", "svd"),
    "factorisation": RATINGS,
    "factors": ("steady", EXTREME, "factors", "svd", "filled_rows", "mini_batches"),
    "factors_file": ("steady", "component_files", "svd", "filled_rows", *PROTOCOL),
    "gaussian": DENSITIES,
    "gaussian_components": ("gaussian_components", *DENSITIES),
    "gaussian_scores": ("gaussian_scores", *DENSITIES),
    "hdp": TOPICS,
    "incremental_pca": (
        *(
            "steady",
            EXTREME,
            "pca",
            "mini_batches",
            "component_files",
            "density_files",
            "row_learners",
            "lists_and_merges",
        ),
        *PROTOCOL,
    ),
    "kernel_density": DENSITIES,
    "kernel_supports": ("kernel_supports", *DENSITIES),
    "kept": ("kept",),
    "kmeans": ("kept", *CLUSTERS),
    "largest": ("topic_model", "rating_learner"),
    "lasso_loops": ("dictionary",),
    "lda": TOPICS,
    "matrix_rows": ("steady", "row_learners", "lists_and_merges", EXTREME, "matrix_rows", "svd", *PROTOCOL),
    "mean_row": (EXTREME, "density_files", "row_baselines", "component_files", *PROTOCOL),
    "memory": ("row_forms", "row_learners", "lists_and_merges", "matrix_rows", *PROTOCOL),
    "merge_features": ("row_learners", "lists_and_merges", "svd"),
    "mini_batches": ("mini_batches",),
    "missing_entries": ("steady", "factors", "missing_entries", "svd", "filled_rows"),
    "mixture": DENSITIES,
    "oja": (EXTREME, "pca", "component_files", "row_learners", "lists_and_merges", *PROTOCOL),
    "online_pca": (EXTREME, "density", "pca", "component_files", "row_learners", "lists_and_merges", *PROTOCOL),
    "parameters": ("row_learners", "lists_and_merges", "svd"),
    "pursuit": ("pursuit", "sparse_codes"),
    "rating_baselines": RATINGS,
    "rating_columns": RATINGS,
    "rating_learner": RATINGS,
    "rating_loops": RATINGS,
    "rating_names": RATINGS,
    "rating_one": RATINGS,
    "rating_rows": RATINGS,
    "rating_state": RATINGS,
    "rating_stream": RATINGS,
    "rating_table": RATINGS,
    "row_encoder": ("row_encoder", *PROTOCOL),
    "row_factors": ("steady", "factors", "svd"),
    "steady": ("steady", "pca", "svd", "row_learners", "lists_and_merges"),
    "stick_loops": TOPICS,
    "svd": (
        "steady",
        EXTREME,
        "svd",
        "filled_rows",
        "before_learners",
        "mini_batches",
        "component_files",
        "row_learners",
        "lists_and_merges",
        *PROTOCOL,
    ),
    "topic_file": TOPICS,
    "topic_model": (*TOPICS, "before_learners", "word_filter"),
    "topic_parameters": TOPICS,
    "topic_words": TOPICS,
    "truth": ("row_learners", "lists_and_merges", "svd"),
    "undo_calls": ("before_learners", "row_learners", "lists_and_merges"),
    "unigram": ("row_baselines", *TOPICS),
    "unsupervised_file": ("component_files", *PROTOCOL),
    "waiting_rows": ("mini_batches", "row_learners", "lists_and_merges", *PROTOCOL),
    "word_filter": ("word_filter",),
}

# For each name a module, its tests, and the learners whose twins play through it.
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
        ("tests/learners/test_row_size.py", PREDICTED),
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
                for file in ("hindsight", "portfolio_learner", "simplex", "theorems", "universal", "universal_terms")
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
        tuple(f"tests/concepts/test_{name}.py" for name in ("concept_learners", "concept_refusals", "worst_cases")),
        (),
    ),
    "tracking": ("noregret.metrics.tracking", ("tests/metrics/test_tracking.py",), ()),
    **{
        name: (
            f"noregret.adapters.{name}",
            tuple(f"tests/adapters/test_{file}.py" for file in (name, "pool", "pool_first_rounds")),
            (),
        )
        for name in ("pool_votes", "pool_sleep", "pool_probabilities")
    },
    **{
        f"{name}_decoder": (f"noregret.tasks.decoders.{name}", tuple(f"tests/{file}.py" for file in files), ())
        for name, files in {
            "sequence": ("structured/test_sequence_search", "structured/test_tagger"),
            "forward_backward": ("structured/test_crf", "structured/test_sequence_search"),
            "arcs": ("tasks/test_tree_decoders", "structured/test_parser"),
            "projective": ("tasks/test_tree_decoders",),
            "nonprojective": ("tasks/test_tree_decoders",),
            "string": ("structured/test_string_search", "structured/test_transducer"),
        }.items()
    },
    "factored": (
        "noregret.tasks.factored",
        tuple(f"tests/structured/test_{name}.py" for name in ("tagger", "parser", "transducer")),
        (),
    ),
    "gamma_functions": ("noregret.algebra.gamma_functions", ("tests/decomposition/test_lda.py",), ()),
    "cached_property": (
        "noregret.cached_property",
        ("tests/test_cached_property.py", "tests/decomposition/test_kept.py"),
        (),
    ),
    "softmax_task": ("noregret.tasks.softmax", ("tests/tasks/test_softmax.py", "tests/tasks/test_asking.py"), ()),
    "crf_task": ("noregret.tasks.crf", ("tests/structured/test_crf.py",), ()),
    **{
        f"decomposition_{name}": (
            f"noregret.decomposition.{name}",
            tuple(f"tests/decomposition/test_{file}.py" for file in files),
            (),
        )
        for name, files in DECOMPOSITION.items()
    },
    **{
        f"games_{name}": (
            f"noregret.games.{name}",
            tuple(f"tests/games/test_{one}.py" for one in (file, "player_files", "swap_files", "path_borders")),
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
            tuple(
                f"tests/neural/test_{file}.py"
                for file in ("backprop", "backprop_parts", "hedge", "forgetting", "interrupts", *files)
            ),
            (),
        )
        for name, files in {
            "activations": (),
            "backprop": ("refusals",),
            "inputs": ("memory", "refusals"),
            "memory": ("memory", "refusals", "network_protocol"),
            "network": ("network", "refusals", "network_protocol"),
            "network_file": ("network_file", "network_protocol"),
            "optimizers": ("network",),
            "rounds": ("refusals",),
            "sizes": ("refusals",),
        }.items()
    },
    "task_sequence": ("noregret.training.task_sequence", ("tests/training/test_task_sequence.py",), ()),
    "sets": ("noregret.metrics.multilabel", ("tests/tasks/test_multilabel_metrics.py", SAVED), ()),
}
