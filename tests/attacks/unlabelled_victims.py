"""Small learners without labels, and networks, with every kind of state that their model files can hold."""

from typing import Any

import numpy as np

import noregret as nr
from tests.attacks.victim import CLASSES, MATRIX, NAMED, SIGNS, TARGETS, Victim, rule

WORDS = np.random.default_rng(9).poisson(0.9, (24, 5))
DOCUMENTS = [{f"w{j}": int(count) for j, count in enumerate(row) if count} for row in WORDS]
TEXTS = [" ".join(word for word, count in row.items() for _ in range(count)) for row in DOCUMENTS]
HOLES = np.where(np.random.default_rng(10).random(MATRIX.shape) < 0.2, np.nan, MATRIX)
FILTER: dict[str, Any] = {"stop_words": "english", "least_documents": 2, "most_share": 0.9}


def unlabelled(name: str, X: Any = NAMED, **options: Any) -> Victim:
    """A learner that has learned more than one mini-batch, and keeps rows of one that is not full."""
    return rule(name, X, None, **options)


def before(learner: str, y: Any, name: str, X: Any = NAMED, **options: Any) -> Victim:
    """A learner behind a decomposition."""

    def make(native: bool) -> Any:
        first: Any = nr.make(name, native=native, **options)
        return first | nr.make(learner, native=native)

    return Victim(make, X, y)


DECOMPOSITIONS: dict[str, Victim] = {
    "svd": unlabelled("svd", rank=3, batch=5),
    "svd, rows": unlabelled("svd", MATRIX, rank=3, batch=2, keep_rows="yes"),
    "svd, one row at a time": unlabelled("svd", MATRIX, rank=2, batch=1, keep_rows="yes", ceiling="project"),
    "svd, missing": unlabelled("svd", HOLES, rank=2, batch=5, missing="nan"),
    "svd, absent": unlabelled("svd", rank=3, batch=5, missing="absent"),
    "svd, hashed": unlabelled("svd", rank=2, batch=5, bits=4),
    "svd, scaled": unlabelled("svd", rank=2, batch=5, scale=True),
    "svd, products": unlabelled("svd", MATRIX, rank=2, batch=5, transforms=[nr.pairs()]),
    "incremental pca": unlabelled("pca_incremental", rank=3, batch=5),
    "oja": unlabelled("oja", MATRIX, rank=3),
    "oja, mini-batches": unlabelled("oja", rank=7, batch=5),
    "online pca": unlabelled("pca", MATRIX, rank=2),
    "online pca, drawn": unlabelled("pca", rank=2, batch=5, choose="draw", radius=20.0),
    "kmeans": unlabelled("kmeans", MATRIX, k=3, batch=5, start=6),
    "kmeans, no centre": unlabelled("kmeans", k=3, batch=5, start=20),
    "dictionary": unlabelled("dictionary", MATRIX, k=4, batch=5, penalty=0.1),
    "dictionary, more atoms": unlabelled("dictionary", k=7, batch=5),
    "gaussian": unlabelled("gaussian", MATRIX, batch=5),
    "gaussian, names": unlabelled("gaussian", batch=1),
    "svd, waiting": unlabelled("svd", np.tile(MATRIX, (3, 1)), rank=3),
    "incremental pca, waiting": unlabelled("pca_incremental", NAMED * 2, rank=2),
    "mixture": unlabelled("mixture", np.tile(MATRIX, (3, 1)), k=2, batch=5, start=6),
    "mixture, names": unlabelled("mixture", NAMED * 2, k=3, batch=5, shape="diagonal"),
    "mixture, few rows": unlabelled("mixture", MATRIX, k=2, start=20),
    "kernel density": unlabelled("kernel_density", np.tile(MATRIX, (3, 1)), budget=6, batch=5),
    "kernel density, names": unlabelled("kernel_density", NAMED * 2, budget=9, batch=5, policy="random"),
    "kernel density, latest": unlabelled("kernel_density", MATRIX, budget=4, policy="oldest", shape="diagonal"),
    "mean row": unlabelled("mean_row", batch=5),
    "kernel density, fixed": unlabelled("kernel_density", MATRIX, budget=9, bandwidth="fixed", shape="diagonal"),
    "behind svd, waiting": before("arow", CLASSES, "svd", rank=2),
    "behind dictionary": before("mlp", CLASSES, "dictionary", MATRIX, k=3, batch=5, penalty=0.1),
    "behind svd": before("arow", CLASSES, "svd", rank=2, batch=5),
    "behind kmeans": before("pa1", SIGNS, "kmeans", MATRIX, k=3, batch=4, start=4),
    "behind pca, oja": before("oja", None, "pca", MATRIX, rank=3),
}
TOPICS: dict[str, Victim] = {
    "lda": unlabelled("lda", WORDS.astype(float), k=3, batch=5),
    "lda, texts": unlabelled("lda", TEXTS, k=3, batch=5, tau0=1.0, kappa=1.0),
    "lda, filtered": unlabelled("lda", TEXTS, k=2, batch=5, **FILTER),
    "unigram": unlabelled("unigram", TEXTS, batch=5, **FILTER),
    "hdp": unlabelled("hdp", WORDS.astype(float), t=6, k=3, batch=5),
    "hdp, names": unlabelled("hdp", DOCUMENTS, t=4, k=2, batch=5, start="uniform"),
    "hdp, filtered": unlabelled("hdp", TEXTS, t=4, k=2, batch=7, **FILTER),
}
NETWORKS: dict[str, Victim] = {
    "network": rule("mlp", MATRIX, CLASSES, layers=[3]),
    "network, names": rule("mlp", layers=[3, 2], optimizer="adam", batch=5),
    "network, targets": rule("mlp", y=TARGETS, layers=[3], task="regression", optimizer="adadelta"),
    "network, hashed": rule("mlp", y=CLASSES, layers=[2], bits=4, scale=False, optimizer="momentum"),
    "network, replay": rule("mlp", y=CLASSES, layers=[2], replay=4, replays=2),
    "network, replayed targets": rule("mlp", MATRIX, TARGETS, layers=[2], replay=4, task="regression"),
    "network, anchor": rule("mlp", layers=[2], anchor=1.0, optimizer="sgd", transforms=[nr.clip(1.0), nr.scale()]),
    "hedge": rule("hbp", MATRIX, CLASSES, depth=2, units=3),
    "hedge, names": rule("hbp", depth=3, units=2, from_input="no", loss_scaling="clip", optimizer="nesterov"),
}
