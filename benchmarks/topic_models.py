"""Topic models beside gensim and scikit-learn: held-out likelihood and time at equal settings, one core each.

`python -m benchmarks.topic_models` prints the tables; NOREGRET_DATA names the folder that holds ap_corpus, newsgroups20
and reuters21578. All learn the same mini-batches in the same order, with the same topics, priors, rates, tolerances and
passes. One evaluator measures all of them: it infers the shares of held-out documents from the topics that a model has
learned (its lambda, or its mean topics), and needs nothing else of the model. `--seeds 5` repeats with other seeds.
`--models hdp_slow` has the rates that are gensim's defaults, which hardly change topics in few mini-batches.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import logging
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import psi

import noregret as nr
from benchmarks.measure import installed
from noregret.decomposition.word_filter import WordFilter
from noregret.evaluation.tables import table
from noregret.streams import open_source

Floats = NDArray[np.float64]
Model = tuple[Floats, Floats]  # the prior of topics in a document, and the mean topics
HELD_OUT = 400
LARGEST = 6000  # documents of a corpus
HEAD = ("corpus", "learner", "completion", "bound per word", "ratio", "seconds", "times as fast", "topics used")


# ---- corpora -------------------------------------------------------------------------------------------------------


def read_corpus(name: str) -> Any:
    """Documents as a sparse matrix of counts: words of at least 5 and at most half of the documents, no stop words."""
    if name == "ap_corpus":
        path = os.path.join(os.environ["NOREGRET_DATA"], name, "ap.dat.gz")
        rows = [batch.X.block for batch in open_source(path, format="libsvm", zero_based=True, labelled=False)]
        width = max(block.width for block in rows)
        return sparse.vstack([sparse.csr_matrix((b.val, b.idx, b.indptr), (b.rows, width)) for b in rows], format="csr")
    columns = ("title", "body") if name == "reuters21578" else ("text",)
    texts = open_source(name, text=columns, labelled=False, limit=LARGEST, on_bad="skip")
    found, names = [], []
    for batch in texts:
        block, names = batch.X.block, list(batch.X.names)
        found.append(sparse.csr_matrix((block.val, block.idx, block.indptr), (block.rows, len(names))))
    width = len(names)
    found = [sparse.csr_matrix((part.data, part.indices, part.indptr), (part.shape[0], width)) for part in found]
    X = sparse.vstack(found, format="csr")
    stop, prefixes = WordFilter("english", 1, 1.0).stop_words, tuple(f"{column}=" for column in columns)
    among = np.array([one.startswith(prefixes) and one.partition("=")[2] not in stop for one in names])
    documents = np.diff(X.tocsc().indptr)
    return X[:, among & (documents >= 5) & (documents <= X.shape[0] / 2)].tocsr()


def split(X: Any, seed: int) -> tuple[Any, Any]:
    """Documents to learn and documents held out; none is empty."""
    X = X[np.diff(X.indptr) > 1]
    order = np.random.default_rng(seed).permutation(X.shape[0])
    return X[order[HELD_OUT:]], X[order[:HELD_OUT]]


# ---- evaluation ----------------------------------------------------------------------------------------------------


def evaluate(model: Model, X: Any, seed: int) -> tuple[float, float]:
    """Per word: the log-likelihood of one half of each document given the other half, and the bound of the whole."""
    alpha, beta = np.maximum(model[0], 1e-10), np.ascontiguousarray(model[1].T)
    random, likelihood, bound, halves, words = np.random.default_rng(seed), 0.0, 0.0, 0, 0.0
    for row in range(X.shape[0]):
        ids, counts = X.indices[X.indptr[row] : X.indptr[row + 1]], X.data[X.indptr[row] : X.indptr[row + 1]]
        tokens = random.permutation(np.repeat(ids, counts.astype(int)))
        seen, other = tokens[: tokens.size // 2], tokens[tokens.size // 2 :]
        kinds, numbers = np.unique(seen, return_counts=True)
        gamma = infer(alpha, beta[kinds], numbers)
        likelihood += float(np.log(beta[other] @ (gamma / gamma.sum())).sum())
        halves += other.size
        gamma = infer(alpha, beta[ids], counts)
        bound += document_bound(alpha, gamma, beta[ids], counts)
        words += float(counts.sum())
    return likelihood / halves, bound / words


def infer(alpha: Floats, beta: Floats, counts: Any) -> Floats:
    gamma = np.ones(alpha.size)
    for _ in range(200):
        theta = np.exp(psi(gamma) - psi(gamma.sum()))
        new = alpha + theta * ((counts / (beta @ theta + 1e-100)) @ beta)
        change, gamma = np.abs(new - gamma).mean(), new
        if change < 1e-4:
            break
    return np.asarray(gamma)


def document_bound(alpha: Floats, gamma: Floats, beta: Floats, counts: Any) -> float:
    from scipy.special import gammaln

    log_theta = psi(gamma) - psi(gamma.sum())
    words = float(counts @ np.log(beta @ np.exp(log_theta) + 1e-100))
    prior = gammaln(alpha.sum()) - gammaln(alpha).sum() - gammaln(gamma.sum()) + gammaln(gamma).sum()
    return words + float(prior + ((alpha - gamma) * log_theta).sum())


# ---- learners: each returns seconds and its model ------------------------------------------------------------------


def by_noregret(name: str, options: dict[str, Any]) -> Callable[[Any, int, int], tuple[float, Model, int]]:
    def learn(X: Any, passes: int, seed: int) -> tuple[float, Model, int]:
        learner: Any = nr.make(name, documents=X.shape[0], seed=seed, **options)
        learner.copy().learn(X[: learner.batch])  # compiled before the clock starts
        begin = process_time()
        for _ in range(passes):
            learner.learn(X)
        seconds = process_time() - begin
        used = learner.used_topics if name == "hdp" else learner.k
        return seconds, (learner.latest.prior(), learner.components), used

    return learn


def by_scikit_learn(k: int, batch: int, tau0: float, kappa: float) -> Any:
    from sklearn.decomposition import LatentDirichletAllocation

    def learn(X: Any, passes: int, seed: int) -> tuple[float, Model, int]:
        model = LatentDirichletAllocation(
            k, learning_offset=tau0, learning_decay=kappa, total_samples=X.shape[0], mean_change_tol=1e-3,
            max_doc_update_iter=100, random_state=seed, n_jobs=1,
        )  # fmt: skip
        begin = process_time()
        for _ in range(passes):
            for start in range(0, X.shape[0], batch):
                model.partial_fit(X[start : start + batch])
        lam = model.components_
        return process_time() - begin, (np.full(k, 1 / k), lam / lam.sum(axis=1, keepdims=True)), k

    return learn


def by_gensim(k: int, batch: int, tau0: float, kappa: float) -> Any:
    from gensim.models import LdaModel

    def learn(X: Any, passes: int, seed: int) -> tuple[float, Model, int]:
        corpus, names = to_corpus(X)
        begin = process_time()
        model = LdaModel(
            corpus, k, names, chunksize=batch, passes=passes, update_every=1, alpha="symmetric", eta=1 / k, decay=kappa,
            offset=tau0 + 1, iterations=100, gamma_threshold=1e-3, eval_every=None, random_state=seed, dtype=np.float64,
        )  # fmt: skip
        seconds, lam = process_time() - begin, model.state.get_lambda()
        return seconds, (np.full(k, 1 / k), lam / lam.sum(axis=1, keepdims=True)), k

    return learn


def by_gensim_hdp(t: int, k: int, batch: int, rates: dict[str, float]) -> Any:
    from gensim.models import HdpModel

    def learn(X: Any, passes: int, seed: int) -> tuple[float, Model, int]:
        corpus, names = to_corpus(X)
        begin = process_time()
        chunks = passes * -(-len(corpus) // batch)
        model = HdpModel(corpus, names, max_chunks=chunks, chunksize=batch, T=t, K=k, random_state=seed, **rates)
        seconds = process_time() - begin
        model.update_expectations()
        mass = np.sort(np.maximum(model.m_lambda_sum, 0.0))[::-1]
        used = int(np.searchsorted(np.cumsum(mass) / mass.sum(), 0.99)) + 1
        return seconds, model.hdp_to_lda(), used

    return learn


def to_corpus(X: Any) -> tuple[list[list[tuple[int, int]]], dict[int, str]]:
    rows = [
        [(int(w), int(n)) for w, n in zip(X.indices[a:b], X.data[a:b], strict=True)]
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    return rows, {number: str(number) for number in range(X.shape[1])}


# ---- tables --------------------------------------------------------------------------------------------------------


def compare(name: str, X: Any, learners: dict[str, Any], passes: int, seeds: int) -> list[tuple[str, ...]]:
    """A line for each learner: means over seeds; ratios are to the first."""
    found: dict[str, list[tuple[float, float, float, int]]] = {one: [] for one in learners}
    for seed in range(seeds):
        train, test = split(X, seed)
        for one, learn in learners.items():
            seconds, model, used = learn(train, passes, seed)
            found[one].append((*evaluate(model, test, seed), seconds, used))
    means = {one: np.mean(values, axis=0) for one, values in found.items()}
    times = {one: min(values[2] for values in several) for one, several in found.items()}
    ours = next(iter(means))
    return [
        (name, one, f"{mean[0]:.4f}", f"{mean[1]:.4f}", f"{means[ours][1] / mean[1]:.4f}", f"{times[one]:.2f}",
         f"{times[one] / times[ours]:.1f}", f"{mean[3]:.0f}")
        for one, mean in means.items()
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.topic_models", description=__doc__)
    parser.add_argument("--corpora", nargs="+", default=["ap_corpus", "newsgroups20", "reuters21578"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--passes", type=int, default=2)
    parser.add_argument("--models", nargs="+", choices=("lda", "hdp", "hdp_slow"), default=["lda", "hdp"])
    told = parser.parse_args()
    logging.disable(logging.WARNING)
    print(", ".join(f"{package} {installed(package)}" for package in ("noregret", "gensim", "scikit-learn", "numpy")))
    rates = {"alpha": 5.0, "kappa": 0.7, "tau": 16.0, "eta": 0.05}
    slow = {"alpha": 1.0, "kappa": 1.0, "tau": 64.0, "eta": 0.01}
    sizes = {"t": 150, "k": 15, "batch": 256}
    contests: dict[str, Any] = {
        "lda": {"noregret lda": by_noregret("lda", {"k": 20, "batch": 64, "tau0": 64.0}),
                "scikit-learn": by_scikit_learn(20, 64, 64.0, 0.7), "gensim LdaModel": by_gensim(20, 64, 64.0, 0.7)},
        "hdp": {"noregret hdp": by_noregret("hdp", {"t": 150, "k": 15, "batch": 100, **rates}),
                "gensim HdpModel": by_gensim_hdp(150, 15, 100, rates)},
        "hdp_slow": {"noregret hdp": by_noregret("hdp", {**sizes, **slow}),
                     "noregret hdp, start=uniform": by_noregret("hdp", {**sizes, **slow, "start": "uniform"}),
                     "gensim HdpModel": by_gensim_hdp(150, 15, 256, slow)},
    }  # fmt: skip
    for model in told.models:
        rows: list[tuple[str, ...]] = []
        for name in told.corpora:
            rows += compare(name, read_corpus(name), contests[model], told.passes, told.seeds)
        print(f"\n{model}: {told.passes} passes, mean of {told.seeds} seeds, least time\n\n{table(HEAD, rows)}")


if __name__ == "__main__":
    main()
