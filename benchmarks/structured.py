"""Sequence tagging beside a tagger in plain Python and CRFsuite (C): passes over sentences, features extracted before.

UD English EWT, or without NOREGRET_DATA generated sentences. `python -m benchmarks structured` prints the table.
"""

import os
import tempfile
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import noregret
from benchmarks.measure import Act, Prepare, Row, best, in_turn
from benchmarks.plain_tagger import PlainTagger
from noregret.streams.conllu import read_sentences
from noregret.structured.templates import TAGGING, Extractor, Numbers

TITLE = "Sequence tagging: 2,001 sentences, 17 tags, first order, features extracted before"
FILES = "ud_english_ewt/en_ewt-ud-dev.conllu.xz", "ud_english_ewt/en_ewt-ud-test.conllu.xz"
PASSES = 5
PEERS = {"perceptron, averaged": "ap", "pa1": "pa", "arow": "arow"}  # and the algorithms of CRFsuite
NOTE = (
    "CRFsuite runs five passes of its averaged perceptron, passive-aggressive and AROW trainers on the same features."
)

Sentences = Sequence[Sequence[str]]
Split = tuple[Sentences, Sentences]


def sentences() -> tuple[Split, Split]:
    """Words and tags to learn and to test."""
    try:
        files = [Path(os.environ["NOREGRET_DATA"]) / name for name in FILES]
        learn, test = ([one for one in read_sentences(str(path)) if one.upos] for path in files)
        return tuple(([one.words for one in some], [one.upos or () for one in some]) for some in (learn, test))  # type: ignore[return-value]
    except (KeyError, noregret.Error):
        return generated(2001, 0), generated(500, 1)


def generated(count: int, seed: int) -> Split:
    """Words of 17 tags that follow each other."""
    rng = np.random.default_rng(seed)
    follow = np.random.default_rng(9).dirichlet(np.full(17, 0.3), 17)
    words, tags = [], []
    for _ in range(count):
        row = [int(rng.integers(17))]
        for _ in range(int(rng.integers(3, 22))):
            row.append(int(rng.choice(17, p=follow[row[-1]])))
        words.append([f"w{(tag * 37 + int(rng.zipf(1.6))) % 3000}" for tag in row])
        tags.append([f"T{tag}" for tag in row])
    return words, tags


def tagger(name: str) -> Any:
    rule, _, averaged = name.partition(", ")
    return noregret.make("tagger", learner=noregret.make(rule, **({"average": True} if averaged else {})))


def ours(name: str, encoded: Any, kept: dict[str, Any]) -> Act:
    learner = kept[name] = tagger(name)

    def act() -> None:
        for _ in range(PASSES):
            learner.learn(encoded)

    return act


def plain(rows: Any, tags: Sentences) -> Act:
    peer = PlainTagger(sorted({tag for row in tags for tag in row}))

    def act() -> None:
        for features, truth in zip(rows, tags, strict=True):
            peer.learn(features, truth)

    return act


def crfsuite(algorithm: str, rows: Any, tags: Sentences, model: str) -> Act:
    pycrfsuite = import_module("pycrfsuite")

    trainer = pycrfsuite.Trainer(algorithm=algorithm, params={"max_iterations": PASSES}, verbose=False)
    for features, truth in zip(rows, tags, strict=True):
        trainer.append(features, truth)
    return lambda: trainer.train(model)


def crfsuite_accuracy(model: str, rows: Any, tags: Sentences) -> float:
    pycrfsuite = import_module("pycrfsuite")

    peer = pycrfsuite.Tagger()
    peer.open(model)
    return accuracy([peer.tag(row) for row in rows], tags)


def accuracy(found: Any, truth: Sentences) -> float:
    pairs = [pair for one, other in zip(found, truth, strict=True) for pair in zip(one, other, strict=True)]
    return float(100.0 * sum(a == b for a, b in pairs) / len(pairs))


def texts(words: Sentences) -> list[list[list[str]]]:
    """The features of every token as texts, for the peers."""
    names = Numbers()
    extractor = Extractor(TAGGING, names.__getitem__)
    return [[[names.order[at] for at in row] for row in extractor.sentence(sentence)] for sentence in words]


def run() -> list[Row]:
    (words, tags), (new, truth) = sentences()
    tokens = sum(map(len, words))
    rows, tests = texts(words), texts(new)
    kept: dict[str, Any] = {}
    encoded = tagger("arow").encode(words, tags)
    for name in PEERS:
        tagger(name).learn(words[:50], tags[:50])  # compiled before the clock starts
    contestants: dict[str, Prepare] = {
        name: (lambda name=name: ours(name, encoded, kept))  # type: ignore[misc]
        for name in PEERS
    }
    few = max(len(words) // 5, 1)
    contestants["plain"] = lambda: plain(rows[:few], tags[:few])
    peers = find_spec("pycrfsuite") is not None
    with tempfile.TemporaryDirectory() as folder:
        models = {algorithm: str(Path(folder) / algorithm) for algorithm in PEERS.values()}
        if peers:
            for algorithm, model in models.items():
                contestants[f"CRFsuite {algorithm}"] = lambda a=algorithm, m=model: crfsuite(a, rows, tags, m)  # type: ignore[misc]
        times = in_turn(contestants, repeats=3)
        right = {name: accuracy(kept[name].predict(new), truth) for name in PEERS}
        theirs = {
            algorithm: crfsuite_accuracy(models[algorithm], tests, truth) for algorithm in PEERS.values() if peers
        }
    speed = {name: PASSES * tokens / best(times, name) for name in PEERS}
    slow = sum(map(len, words[:few])) / best(times, "plain")
    averaged = "perceptron, averaged"
    rows_out = [Row("averaged perceptron with Viterbi search", f"{speed[averaged] / 1e3:,.0f} k tokens/s",
                    f"plain Python {slow / 1e3:,.1f} k tokens/s", speed[averaged] / slow, "x", at_least=20.0,
                    seconds=times)]  # fmt: skip
    for name, algorithm in PEERS.items() if peers else ():
        taken, own = best(times, f"CRFsuite {algorithm}"), best(times, name)
        rows_out.append(Row(f"{name}, five passes, time", f"{own:.2f} s", f"CRFsuite {algorithm} {taken:.2f} s",
                            taken / own, "x", at_least=1.0))  # fmt: skip
        rows_out.append(Row(f"{name}, accuracy", f"{right[name]:.2f} %", f"CRFsuite {theirs[algorithm]:.2f} %",
                            right[name] - theirs[algorithm], "points", at_least=-1.0))  # fmt: skip
    return rows_out
