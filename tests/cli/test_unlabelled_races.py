"""Races of learners without labels: what their losses are, and what to compare them with."""

from pathlib import Path
from typing import Any

import pytest

from noregret.cli import main

SQUARED, DENSITY = "squared distances", "minus log-densities"
TOPICS, CODES = "minus log-probabilities of documents", "half squared distances with a penalty"


@pytest.mark.parametrize(("learners", "measures", "baseline"), [
    ("svd(rank=1),mean_row,kmeans(k=2),oja(rank=1)", [], "rows as they come have the mean square"),
    ("mixture(k=2),kernel_density", [], "race gaussian, too"),
    ("lda(k=2),hdp(t=3, k=2)", [], "race unigram, too"),
    ("mean_row,gaussian", [f"mean_row has {SQUARED}", f"gaussian has {DENSITY}"], ""),
    ("mean_row,lda(k=2)", [f"mean_row has {SQUARED}", f"lda(k=2) has {TOPICS}"], ""),
    ("mean_row,dictionary(k=2)", [f"mean_row has {SQUARED}", f"dictionary(k=2) has {CODES}"], ""),
])  # fmt: skip
def test_losses_that_cannot_be_compared_are_named(
    learners: str, measures: list[str], baseline: str, tmp_path: Path, capsys: Any
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n" + "".join(f"{k % 3},{k % 5}\n" for k in range(20)))
    common = ["--task", "unsupervised", "--label", "NONE", "--set", "native=False"]
    assert main(["race", str(path), "--learners", learners, *common]) == 0
    out, err = capsys.readouterr()
    assert ("these losses cannot be compared" in err) == bool(measures)
    assert all(text in err for text in measures)
    assert f"to compare: {baseline}" in out
