"""`noregret rerank`: reranks, measures, saves, resumes; bad files are refused with their line."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.evaluation.reranking import RerankingCounts
from noregret.streams.candidate_lists import read_lists
from tests.conformance.protocol import state
from tests.loglinear.lists import text_lists
from tests.support.command_line import noregret, refused, succeeded

X, Y = text_lists(80, seed=8)
LINES = [json.dumps({**x, "reference": y}) for x, y in zip(X, Y, strict=True)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lists.jsonl").write_text("\n".join(LINES) + "\n")
    return tmp_path


def test_scores_before_and_after_stand_beside_each_other(folder: Path) -> None:
    done = succeeded(noregret("rerank", "lists.jsonl", "--learner", "ridge_reranker", "--set", "mix=0.2", "--json",
                              "r.json", "--out", "chosen.txt", "--save", "m.nr", cwd=folder))  # fmt: skip
    for word in ("first candidate", "reranked online", "oracle", "BLEU", "80 lists"):
        assert word in done.stdout
    report: dict[str, Any] = json.loads((folder / "r.json").read_text())
    assert report["first"]["bleu"] < report["chosen"]["bleu"] <= report["oracle"]["bleu"]
    assert report["params"]["mix"] == 0.2
    assert report["curve"][-1]["chosen"] == report["chosen"]["bleu"]
    learner: Any = nr.make("ridge_reranker", mix=0.2)
    places = learner.play(X, Y).predictions.tolist()
    texts = [x["candidates"][place]["text"] for x, place in zip(X, places, strict=True)]
    assert (folder / "chosen.txt").read_text().splitlines() == texts
    loaded = nr.load(folder / "m.nr")
    assert loaded.source["lists"] == 80
    loaded.source = None
    assert state(loaded) == state(learner)


def test_its_scores_are_those_of_sacrebleu(folder: Path) -> None:
    metrics = pytest.importorskip("sacrebleu.metrics")
    lists = list(read_lists(str(folder / "lists.jsonl")))
    counts = RerankingCounts()
    counts.add(lists[:50], [len(one) - 1 for one in lists[:50]])
    counts.add(lists[50:], [len(one) - 1 for one in lists[50:]])
    texts = [x["candidates"][-1]["text"] for x in X]
    assert counts.outputs["chosen"].bleu == pytest.approx(metrics.BLEU().corpus_score(texts, [Y]).score)
    assert counts.outputs["chosen"].ter == pytest.approx(metrics.TER().corpus_score(texts, [Y]).score)
    first = [x["candidates"][0]["text"] for x in X]
    assert counts.outputs["first"].bleu == pytest.approx(metrics.BLEU().corpus_score(first, [Y]).score)


def test_a_rule_by_name_learns_the_weights_of_the_adaptive_reranker(folder: Path) -> None:
    words = ("rerank", "lists.jsonl", "--quiet", "--limit", "10", "--json", "-")
    report = json.loads(
        succeeded(noregret(*words, "--learner", "pa1(C=0.5)", "--mode", "discriminative", cwd=folder)).stdout
    )
    assert report["learner"] == "adaptive_reranker"
    assert report["params"]["mode"] == "discriminative"
    assert report["params"]["learner"]["C"] == 0.5
    assert report["lists"] == 10
    mira = json.loads(succeeded(noregret(*words, "--learner", "mira", cwd=folder)).stdout)
    assert mira["params"]["competitor"] == "k_best"


def test_a_model_goes_on_with_another_file_and_where_it_was_interrupted(folder: Path) -> None:
    (folder / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(LINES[:30]).encode()))
    (folder / "b.jsonl").write_text("\n".join(LINES[30:]))
    options = ("--learner", "loglinear_reranker", "--quiet")
    succeeded(noregret("rerank", "a.jsonl.gz", *options, "--save", "m.nr", cwd=folder))
    succeeded(noregret("rerank", "b.jsonl", "--resume", "m.nr", "--quiet", cwd=folder))
    whole = nr.make("loglinear_reranker").learn(X, Y)
    found = nr.load(folder / "m.nr")
    found.source = None
    assert state(found) == state(whole)
    half: Any = nr.make("loglinear_reranker").learn(X[:32], Y[:32])
    half.source = {"name": "lists.jsonl", "file": "lists.jsonl", "lists": 32, "ended": False}
    half.save(folder / "half.nr")
    done = succeeded(noregret("rerank", "lists.jsonl", "--resume", "half.nr", "--json", "-", cwd=folder))
    assert json.loads(done.stdout)["skipped"] == 32
    again = nr.load(folder / "half.nr")
    again.source = None
    assert state(again) == state(whole)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ridge_reranker", ["hint", "noregret rerank LISTS.jsonl --resume m.nr"]),
        ("bayesian_reranker", ["hint", "samples = 200"]),
        ("loglinear_reranker", ["hint", "likelihood"]),
        ("adaptive_reranker", ["ngram", "learner     arow", "noregret rerank LISTS.jsonl --resume m.nr"]),
        ("translation_lexicon", ["14 target words", "eht: the (0.9"]),
        ("language_model", ["14 words; n-grams: 15 of 1 words"]),
        ("recent_cache", ["14 words", "the: "]),
    ],
)
def test_show_says_what_a_model_learned(folder: Path, name: str, says: list[str]) -> None:
    rounds: Any = (X, Y) if name.endswith("reranker") else ([one["source"] for one in X], Y)
    if name in ("language_model", "recent_cache"):
        rounds = (Y, None)
    nr.make(name, **({"native": False} if name == "adaptive_reranker" else {})).learn(*rounds).save(folder / "m.nr")
    done = succeeded(noregret("show", "m.nr", cwd=folder))
    for text in says:
        assert text in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "lists.jsonl:3: not JSON: "),
        ("[1]", "lists.jsonl:3: a line must be an object with source, reference and candidates"),
        ("[" * 100_000, "lists.jsonl:3: not JSON"),
        ('{"source": "a", "candidates": [{"text": "b", "score": 1}]}', "lists.jsonl:3: the list has no reference"),
        ('{"source": "a", "reference": "", "candidates": [{"text": "b", "score": 1}]}', "the reference has no words"),
        ('{"source": "a", "reference": "a", "candidates": []}', "lists.jsonl:3: candidates must be a list"),
        ('{"source": "a", "reference": "a", "candidates": [{"text": "b", "score": NaN}]}', "the value is nan"),
        ('{"source": "a", "reference": "a", "candidates": [{"text": "b", "score": 1e999}]}', "the value is inf"),
        ('{"source": "a", "reference": "a", "candidates": [{"score": 1}]}', "candidate 0 has no text"),
        (
            '{"source": "a", "reference": "a", "candidates": [{"text": "b", "score": %s}]}' % ("1" * 5000),
            "lists.jsonl:3",
        ),
    ],
)
def test_a_bad_line_is_named(folder: Path, line: str, says: str) -> None:
    (folder / "lists.jsonl").write_text("\n".join([*LINES[:2], line]))
    refused(noregret("rerank", "lists.jsonl", "--quiet", "--learner", "ridge_reranker", cwd=folder), says)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["missing.jsonl"], "missing.jsonl"),
        (["empty.jsonl"], "empty.jsonl: has no lists"),
        (["lists.jsonl", "--learner", "svd"], "svd does not rerank lists"),
        (["lists.jsonl", "--learner", "ridge_reranker", "--mode", "combined"], "--mode is for adaptive_reranker"),
        (["lists.jsonl", "--learner", "ridge_reranker", "--set", "mix=2"], "mix must be"),
        (["lists.jsonl", "--learner", "nothing"], "there is no learner 'nothing'"),
        (["lists.jsonl", "--resume", "pa1.nr"], "this is a model of pa1, which does not rerank lists"),
        (["lists.jsonl", "--resume", "pa1.nr", "--mode", "combined"], "leave --mode out"),
        (["lists.jsonl", "--save", "lists.jsonl"], "would overwrite"),
        (["latin.jsonl"], "latin.jsonl:1: byte"),
    ],
)
def test_what_cannot_be_done_is_refused(folder: Path, words: list[str], says: str) -> None:
    (folder / "empty.jsonl").write_text("\n\n")
    (folder / "latin.jsonl").write_bytes('{"source": "é"}'.encode("latin-1"))
    nr.make("pa1", native=False).learn([{"a": 1.0}], [1]).save(folder / "pa1.nr")
    refused(noregret("rerank", *words, "--quiet", cwd=folder), says)
