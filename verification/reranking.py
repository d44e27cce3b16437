"""Rerank n-best lists of a translator in another domain, in order, and print BLEU and TER before and after.

    python -m verification.reranking DIR [--lists water_and_winter] [--only NAME ...]

DIR holds the lists that `python -m verification.translation.n_best` writes. Every row of the table is one pass: each
list is reranked before its reference is learned.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret.data.candidate_lists import CandidateList
from noregret.data.words import split_words
from noregret.errors import import_extra
from noregret.loglinear.quality import brevity, match
from noregret.loglinear.truths import read_losses
from noregret.streams.candidate_lists import read_lists

BLOCK, RESAMPLES = 64, 1000
Lists = Sequence[CandidateList]


def adaptive(**options: Any) -> Callable[[], Any]:
    return lambda: nr.make("adaptive_reranker", **options)


LEARNERS: dict[str, Callable[[], Any]] = {
    "ridge_reranker": lambda: nr.make("ridge_reranker"),
    'ridge_reranker, accumulate="no"': lambda: nr.make("ridge_reranker", accumulate="no"),
    "bayesian_reranker": lambda: nr.make("bayesian_reranker"),
    "loglinear_reranker": lambda: nr.make("loglinear_reranker"),
    'loglinear_reranker, objective="expected_loss"': lambda: nr.make("loglinear_reranker", objective="expected_loss"),
    "discriminative, perceptron": adaptive(mode="discriminative", learner="perceptron"),
    'discriminative, perceptron, target="best"': adaptive(mode="discriminative", learner="perceptron", target="best"),
    "discriminative, pa1(C=0.003)": adaptive(mode="discriminative", learner="pa1(C=0.003)"),
    "discriminative, mira": adaptive(mode="discriminative", learner="mira"),
    "generative": adaptive(mode="generative"),
    "combined, perceptron": adaptive(learner="perceptron"),
    "combined, pa1(C=0.003)": adaptive(learner="pa1(C=0.003)"),
    "combined (the default: arow, r=100)": adaptive(),
    "combined, mira": adaptive(learner="mira"),
    "combined, ridge_reranker": adaptive(learner="ridge_reranker"),
    "combined, bayesian_reranker": adaptive(learner="bayesian_reranker(s2=0.1)"),
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.reranking", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--lists", default="water_and_winter", metavar="NAME")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="some of the learners")
    parser.add_argument("--costs", type=int, metavar="N", help="print the CPU time of a list over N lists instead")
    told = parser.parse_args(arguments)
    path = told.folder / f"{told.lists}.jsonl"
    if not path.is_file():
        print(f"python -m verification.reranking: there is no {path}", file=sys.stderr)
        return 2
    lists = list(islice(read_lists(str(path)), told.costs))
    losses = [read_losses(one, None, t, "bleu") for t, one in enumerate(lists)]
    if told.costs is not None:
        print_costs(lists, losses)
        return 0
    first = Chosen(lists, np.zeros(len(lists), int))
    command = f"`python -m verification.reranking DIR --lists {told.lists}`"
    print(f"{command}, {date.today().isoformat()}, {len(lists):,} lists:\n")
    print("| learner | BLEU | difference | BLEU, second half | difference | TER | changed |")
    print("|---|---|---|---|---|---|---|")
    print(row("no adaptation (first candidate)", first, first), flush=True)
    for name, make in LEARNERS.items():
        if told.only is None or name in told.only:
            print(row(name, Chosen(lists, play(make(), lists, losses)), first), flush=True)
    best = np.array([int(one.argmin()) for one in losses])
    print(row("best candidate (oracle)", Chosen(lists, best), first))
    return 0


def play(learner: Any, lists: Lists, losses: Sequence[Any]) -> np.ndarray:
    """The places that a learner predicts, list by list."""
    found = []
    for start in range(0, len(lists), BLOCK):
        found.append(learner.play(lists[start : start + BLOCK], losses[start : start + BLOCK]).predictions)
        print(f"{start + BLOCK:>6} of {len(lists)}", end="\r", file=sys.stderr, flush=True)
    return np.concatenate(found)


class Chosen:
    """Chosen texts with what BLEU and TER count of each."""

    def __init__(self, lists: Lists, places: np.ndarray) -> None:
        self.places = places
        texts = [(one.texts or ())[place] for one, place in zip(lists, places.tolist(), strict=True)]
        references = [one.reference or "" for one in lists]
        found = [match(split_words(text), split_words(one)) for text, one in zip(texts, references, strict=True)]
        self.counts = np.array([[*one.right, *one.total, one.length, one.reference] for one in found], float)
        metric = import_extra("sacrebleu.metrics", "translation", "the translation edit rate").TER()
        self.ter = float(metric.corpus_score(texts, [references]).score)

    def bleu(self, rows: Any = slice(None)) -> float:
        return bleu_of(self.counts[rows].sum(axis=0))


def bleu_of(sums: np.ndarray) -> float:
    """BLEU from the sums of what it counts."""
    return float(100.0 * brevity(int(sums[8]), int(sums[9])) * np.exp(np.log(sums[:4] / sums[4:8]).mean()))


def interval(one: Chosen, first: Chosen, start: int) -> str:
    """The difference of BLEU with its 95 % interval by paired bootstrap (Koehn 2004)."""
    size = len(one.places)
    difference = one.bleu(slice(start, size)) - first.bleu(slice(start, size))
    rng, found = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        rows = rng.integers(start, size, size=size - start)
        found.append(one.bleu(rows) - first.bleu(rows))
    low, high = np.percentile(found, [2.5, 97.5])
    return f"{difference:+.2f} ({low:+.2f} to {high:+.2f})"


def row(name: str, one: Chosen, first: Chosen) -> str:
    half = len(one.places) // 2
    cells = [name, f"{one.bleu():.2f}", "", f"{one.bleu(slice(half, None)):.2f}", "", f"{one.ter:.2f}"]
    if one is not first:
        cells[2], cells[4] = interval(one, first, 0), interval(one, first, half)
    return f"| {' | '.join([*cells, f'{np.count_nonzero(one.places):,}'])} |"


def print_costs(lists: Lists, losses: Sequence[Any]) -> None:
    """CPU milliseconds of a list by every learner, over the second half of some lists."""
    half = len(lists) // 2
    for name, make in LEARNERS.items():
        learner = make().learn(lists[:half], losses[:half])
        began = time.process_time()
        play(learner, lists[half:], losses[half:])
        print(f"{1000.0 * (time.process_time() - began) / (len(lists) - half):6.1f} ms  {name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
