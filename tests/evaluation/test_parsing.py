"""Attachment scores count words with the right head, and those with the right relation too."""

import pytest

from noregret.evaluation.parsing import ParseCounts


def test_heads_and_relations_are_counted_apart() -> None:
    counts = ParseCounts()
    truth = [(2, "det"), (3, "nsubj"), (0, "root"), (3, "obj")]
    found = [(2, "det"), (3, "obj"), (0, "root"), (2, "obj")]
    counts.add([truth, [(0, "root")]], [found, [(0, "root")]])
    report = counts.report()
    assert report["unlabelled_attachment"] == pytest.approx(4 / 5)
    assert report["labelled_attachment"] == pytest.approx(3 / 5)
    assert (report["words"], report["sentences"], report["right_sentences"]) == (5, 2, 1)
    assert report["relations"][0] == {"relation": "root", "words": 2, "unlabelled": 1.0, "labelled": 1.0}
    assert {"relation": "nsubj", "words": 1, "unlabelled": 1.0, "labelled": 0.0} in report["relations"]
    assert report["confused"] == [{"truth": "nsubj", "predicted": "obj", "words": 1}]
    assert "unlabelled attachment 80.00 %, labelled 60.00 %; 1 of 2 trees right" in counts.describe("f")


def test_heads_alone_are_compared_where_one_side_has_no_relations() -> None:
    counts = ParseCounts()
    counts.add([[2, 0]], [[(2, "det"), (0, "root")]])
    counts.add([[(2, "det"), (0, "root")]], [[0, 1]])
    assert "labelled_attachment" not in counts.report()
    assert counts.describe("f") == "f: 4 words: unlabelled attachment 50.00 %; 1 of 2 trees right"
    assert "no heads" in ParseCounts().describe("f")
