"""Part-of-speech tags of UD English EWT: learn on dev, test on test; a stream that moves from domain to domain."""

import time
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret.data.sentences import Sentence
from noregret.streams.conllu import read_sentences
from verification.experiments.common import Row, Table

DEV, TEST = "ud_english_ewt/en_ewt-ud-dev.conllu.xz", "ud_english_ewt/en_ewt-ud-test.conllu.xz"
FILES = (DEV, TEST)
PASSES, WINDOW = 5, 100
LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {},
    "perceptron, averaged": {"average": True},
    "pa1": {},
    "pa1, averaged": {"average": True},
    "arow": {},
    "scw1": {},
    "adagrad": {},
}


def tagger(name: str, order: int = 1) -> Any:
    return nr.make("tagger", learner=nr.make(name.partition(",")[0], **LEARNERS[name]), order=order)


def read(path: Path) -> tuple[list[Sentence], list[Any], list[Any]]:
    sentences = list(read_sentences(str(path)))
    return sentences, [one.words for one in sentences], [list(one.upos or ()) for one in sentences]


def accuracy(learner: Any, words: list[Any], tags: list[Any]) -> float:
    found = learner.predict(words)
    pairs = [pair for one, other in zip(found, tags, strict=True) for pair in zip(one, other, strict=True)]
    return float(100.0 * sum(a == b for a, b in pairs) / len(pairs))


def run(base: Path) -> Table:
    """Accuracy on test after one pass and after five, and the error while learning the first time."""
    _, words, tags = read(base / DEV)
    _, new, truth = read(base / TEST)
    tokens = sum(map(len, words))
    rows: list[Row] = []
    for name, order in [*((name, 1) for name in LEARNERS), ("perceptron, averaged", 2), ("arow", 2)]:
        learner = tagger(name, order)
        learner.copy().learn(words[:20], tags[:20])  # compiled before the clock starts
        encoded = learner.encode(words, tags)
        first = learner.play(encoded)
        once = accuracy(learner, new, truth)
        began = time.process_time()
        for _ in range(PASSES - 1):
            learner.learn(encoded)
        speed = (PASSES - 1) * tokens / (time.process_time() - began)
        online = 100.0 * float(first.losses.sum()) / tokens
        context = "one tag" if order == 1 else "two tags"
        row = (f"{online:.1f}", f"{once:.2f}", f"{accuracy(learner, new, truth):.2f}", f"{speed / 1000:,.0f}")
        rows.append((f"`{name}`" if "," not in name else f"`{name.partition(',')[0]}`, averaged", context, *row))
    head = (
        "learner",
        "context",
        "error while learning, %",
        "test after 1 pass, %",
        "after 5",
        "thousand tokens a CPU-second",
    )
    rows += domains(base)
    return head, rows


def domains(base: Path) -> list[Row]:
    """The error around the places where the stream moves to another domain, for some learners."""
    sentences, words, tags = read(base / DEV)
    genres = np.array([one.id.partition("-")[0] for one in sentences])
    order = [int(at) for genre in dict.fromkeys(genres) for at in np.flatnonzero(genres == genre)]
    sizes = np.array([len(words[at]) for at in order])
    changes = np.flatnonzero(genres[order][1:] != genres[order][:-1]) + 1
    rows: list[Row] = []
    for name in ("arow", "pa1", "adagrad"):
        losses = tagger(name).play([words[at] for at in order], [tags[at] for at in order]).losses
        parts = [slice(at - WINDOW, at) for at in changes], [slice(at, at + WINDOW) for at in changes]
        before, after = (
            [100.0 * losses[part].sum() / sizes[part].sum() for part in some if part.start >= 0] for some in parts
        )
        rows.append((f"`{name}`, domain after domain", "one tag", f"{np.mean(before):.1f} before a change, "
                     f"{np.mean(after):.1f} after", "", "", ""))  # fmt: skip
    return rows
