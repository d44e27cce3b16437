"""The exact mistakes of LIBOL itself on a1a and a9a, in the order of the files."""

from collections.abc import Iterator
from pathlib import Path

import noregret as nr
from verification.reproduce.data import rows
from verification.reproduce.published import table
from verification.reproduce.report import AGREES, MISS, Progress, Row, Table

FILES = ("a1a/a1a.svm.gz", "a9a/a9a.svm.gz")
SOURCE = "LIBOL run with its default parameters"
PROTOCOL = (
    "C = r = 1, OGD with the hinge loss and rate 1 / sqrt(t), SCW-I with eta = .75, full covariance, no bias, file "
    "order. A prediction is the sign of the score; the sign of 0 is +1. The number of mistakes must be equal."
)
PUBLISHED = table("""
OGD     301  5167
PA      388  6801
PA-I    388  6801
PA-II   386  6754
AROW    290  5055
NHERD   316  5099
SCW-I   319  5173
""")
LEARNERS: dict[str, tuple[str, dict[str, object]]] = {
    "OGD": ("ogd", {"eta0": 1.0}),
    "PA": ("pa", {}),
    "PA-I": ("pa1", {"C": 1.0}),
    "PA-II": ("pa2", {"C": 1.0}),
    "AROW": ("arow", {"covariance": "full"}),
    "NHERD": ("nherd", {"covariance": "full", "C": 1.0}),
    "SCW-I": ("scw1", {"covariance": "full", "eta": 0.75, "C": 1.0, "floor": 1e-12}),
}


def compared(base: Path, files: tuple[str, ...] = FILES) -> list[Row]:
    """A row for each algorithm and file."""
    found, progress = [], Progress("libol, mistakes", len(files) * len(LEARNERS))
    for number, name in enumerate(FILES):
        if name not in files:
            continue
        X, y = rows(base, name)
        for algorithm, (learner, told) in LEARNERS.items():
            published = int(PUBLISHED[algorithm][number].mean)
            ours = nr.make(learner, **told).learn(X, y).mistakes
            verdict = AGREES if ours == published else MISS
            data = name.partition("/")[0]
            found.append(Row(f"{data} {algorithm}", learner, f"{published} mistakes", f"{ours} mistakes", verdict))
            progress.step(found[-1].what)
    return found


def run(base: Path) -> Iterator[Table]:
    yield Table("LIBOL, mistakes of one pass", SOURCE, PROTOCOL, compared(base))
