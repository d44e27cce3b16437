"""Dependency trees of UD English EWT: learn on dev, test on test, with gold tags."""

import time
from pathlib import Path
from typing import Any

import noregret as nr
from noregret.evaluation.parsing import ParseCounts
from noregret.streams.conllu import read_sentences
from verification.experiments.common import Row, Table

DEV, TEST = "ud_english_ewt/en_ewt-ud-dev.conllu.xz", "ud_english_ewt/en_ewt-ud-test.conllu.xz"
FILES = (DEV, TEST)
PASSES = 5
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {
    "`perceptron`, averaged": ("perceptron", {"average": True}),
    "`pa1`": ("pa1", {}),
    "`arow`": ("arow", {}),
}


def measure(parser: Any, encoded: Any, truths: list[Any]) -> ParseCounts:
    counts = ParseCounts()
    counts.add(truths, parser.predict(encoded).tolist())
    return counts


def run(base: Path) -> Table:
    """Attachment on test after one pass and after five, the error while learning the first time, seconds of a pass."""
    train, new = list(read_sentences(str(base / DEV))), list(read_sentences(str(base / TEST)))
    truths = [list(zip(one.heads or (), one.relations or (), strict=True)) for one in new]
    words = sum(map(len, train))
    rows: list[Row] = []
    for title, (name, options) in LEARNERS.items():
        for projective in (True, False):
            parser: Any = nr.make("parser", learner=nr.make(name, **options), projective=projective)
            parser.copy().learn(train[:20], train[:20])  # compiled before the clock starts
            encoded, unseen = parser.encode(train, train), parser.encode(new)
            first = parser.play(encoded)
            once = measure(parser, unseen, truths)
            began = time.process_time()
            for _ in range(PASSES - 1):
                parser.learn(encoded)
            seconds = (time.process_time() - began) / (PASSES - 1)
            found = measure(parser, unseen, truths)
            rows.append(
                (
                    title,
                    "projective" if projective else "crossing",
                    f"{100.0 * float(first.losses.sum()) / words:.1f}",
                    f"{100 * once.unlabelled_attachment:.2f}",
                    f"{100 * found.unlabelled_attachment:.2f}",
                    f"{100 * found.labelled_attachment:.2f}",
                    f"{seconds:.2f}",
                )
            )
    head = (
        "learner",
        "trees",
        "wrong heads while learning, %",
        "unlabelled after 1 pass, %",
        "unlabelled after 5",
        "labelled after 5",
        "CPU-seconds of a pass",
    )
    return head, rows
