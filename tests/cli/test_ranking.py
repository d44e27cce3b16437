"""`noregret learn`, `race` and `predict` on lists."""

import json
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from tests.support.command_line import noregret, refused

ROWS = [
    (t // 5, (t * t) % 4, [float((7 * t) % 11), float((t * t) % 4) + 0.3 * (t % 2), float(t % 3)]) for t in range(300)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = [f"{rel} qid:{q} " + " ".join(f"{j}:{v}" for j, v in enumerate(x, 1)) for q, rel, x in ROWS]
    (tmp_path / "lists.svm").write_text("\n".join(lines) + "\n")
    cells = [f"{q},{x[0]},{x[1]},{x[2]},{rel}" for q, rel, x in ROWS]
    (tmp_path / "lists.csv").write_text("list,a,b,c,grade\n" + "\n".join(cells) + "\n")
    return tmp_path


def test_learns_keeps_goes_on_and_predicts(folder: Path) -> None:
    said = noregret(
        "learn", "lists.svm", "--task", "ranking", "--learner", "pa1", "--save", "m.nr", "--json", "-", cwd=folder
    )
    assert said.returncode == 0, said.stderr
    told = json.loads(said.stdout)["learners"][0]
    X, y, query = np.array([x for *_, x in ROWS]), [rel for _, rel, _ in ROWS], [q for q, *_ in ROWS]
    same = nr.make("pa1", task="ranking", native=False)
    expected = nr.play((X, y, query), same)
    assert {name: told[name] for name in ("rounds", "mistakes", "pair_accuracy", "ndcg", "ndcg_at_10")} == {
        name: pytest.approx(expected[name]) for name in ("rounds", "mistakes", "pair_accuracy", "ndcg", "ndcg_at_10")
    }
    found = noregret("predict", "m.nr", "lists.svm", "--quiet", cwd=folder).stdout.split()
    assert found[0] == "prediction"
    np.testing.assert_allclose([float(one) for one in found[1:]], same.scores(X), rtol=1e-9)
    resumed = noregret("learn", "lists.svm", "--resume", "m.nr", "--passes", "1", "--quiet", cwd=folder)
    assert "% of pairs in the right order in 60 rounds" in resumed.stdout
    assert nr.load(folder / "m.nr").rounds == 120


def test_races_over_the_lists_of_a_table(folder: Path) -> None:
    words = ("race", "lists.csv", "--task", "ranking", "--learners", "pa1,perceptron", "--label", "grade")
    said = noregret(*words, "--query", "list", "--no-scale", cwd=folder)
    assert said.returncode == 0, said.stderr
    assert "NDCG@10" in said.stdout
    assert "to compare: the order in which the rows come has" in said.stdout
    assert "--task ranking" in said.stdout
    assert "--query list" in said.stdout
    assert "a constant feature is added" not in said.stderr
    refused(noregret(*words, cwd=folder), "no query says which list a row belongs to")
    refused(
        noregret("learn", "lists.svm", "--task", "ranking", "--learner", "sop", cwd=folder), "sop cannot play ranking"
    )
