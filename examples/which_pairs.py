"""Compare the three values of pairs= for ranking (all, each, worst) on generated groups of rows."""

from itertools import product

import numpy as np
import numpy.typing as npt

import noregret as nr

LEARNERS = ("perceptron", "pa1", "arow", "scw1", "ogd", "adagrad")
PAIRS = ("worst", "each", "all")
ROWS, FEATURES, SEEDS = 4000, 20, 3
Array = npt.NDArray[np.float64]


def draw_groups(seed: int, size: int, noise: float, grades: int) -> tuple[Array, Array, Array]:
    """Groups of `size` rows; the relevance is the grade of a noisy linear score."""
    rng = np.random.default_rng(seed)
    rows = ROWS // size * size
    X = rng.normal(size=(rows, FEATURES))
    score = X @ rng.normal(size=FEATURES) / np.sqrt(FEATURES) + noise * rng.normal(size=rows)
    cuts = np.quantile(score, np.linspace(0.0, 1.0, grades + 1)[1:-1])
    return X, np.searchsorted(cuts, score) * 1.0, np.arange(rows) // size * 1.0


def main() -> None:
    streams = [draw_groups(*kind) for kind in product(range(SEEDS), (10, 40), (0.0, 0.5), (2, 5))]
    found = {
        (name, pairs): np.mean(
            [nr.play(stream, nr.make(name, task="ranking", pairs=pairs))["pair_accuracy"] for stream in streams]
        )
        for name, pairs in product(LEARNERS, PAIRS)
    }
    for name in LEARNERS:
        print(f"{name:12}", *(f"{pairs} {found[name, pairs]:.4f}  " for pairs in PAIRS))
    print(f"{'mean':12}", *(f"{one} {np.mean([found[name, one] for name in LEARNERS]):.4f}  " for one in PAIRS))


if __name__ == "__main__":
    main()
