"""What a process measures of a translator that adapts: a part of a stream, played by one update at one rate."""

import time
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import noregret as nr
from noregret.neural.translation.measures import bleu, count_strokes
from noregret.neural.translation.tensors import torch
from verification.translation.domains import Pairs, apply_house_style, read_pairs, shifted_stream, split_domains

NO_UPDATE = "none"
TRANSLATOR: Any = None  # of this process
DATA = Path()


@dataclass(frozen=True)
class Job:
    """Pairs `start` to `stop` of a set, after those before them were learned."""

    set: str
    options: dict[str, Any] = field(default_factory=dict)  # of the translator
    updates: bool = True
    start: int = 0
    stop: int = 0
    strokes: int = 0  # count the strokes of every n-th pair; 0 counts none
    replay: bool = False  # learn a random pair of the base domain after each
    plays: bool = True  # translate the pairs; otherwise only learn them
    base: int = 0  # translate so many sentences of the base domain at the end

    @property
    def method(self) -> str:
        if not self.updates:
            return NO_UPDATE
        return f"{self.options['optimizer']} with replay" if self.replay else str(self.options["optimizer"])


@cache
def read_sets(data: Path) -> dict[str, Pairs]:
    """By name: the streams to report, those to tune on, and the base domain."""
    stream, rest = shifted_stream(data)
    base, valid = (split_domains(read_pairs(data, name))[0] for name in ("test_2016_flickr", "val"))
    return {
        "water_and_winter": stream,
        "test_2017_mscoco": read_pairs(data, "test_2017_mscoco"),
        "house_style": apply_house_style(base),
        "tuning_water_and_winter": rest,
        "tuning_house_style": apply_house_style(valid),
        "base": base,
    }


def start(model: str, data: Path) -> None:
    """Load the model once in each process."""
    global TRANSLATOR, DATA
    torch().set_num_threads(1)
    TRANSLATOR, DATA = nr.load(model), data


def measure(job: Job) -> dict[str, Any]:
    """The job, a record of every pair, and how long it took."""
    began = time.perf_counter()
    translator, pairs = TRANSLATOR.with_options(**job.options), read_sets(DATA)[job.set]
    found: dict[str, Any] = {"job": asdict(job), "method": job.method, "records": []}
    replayed = base_pairs(len(pairs.sources)) if job.replay else None
    if job.updates:
        learn(translator, pairs.between(0, job.start), replayed)
    if job.plays:
        found["records"] = [play(translator, job, pairs, at, replayed) for at in range(job.start, job.stop)]
    elif job.updates:
        learn(translator, pairs.between(job.start, job.stop), replayed)
    if job.base:
        base = read_sets(DATA)["base"].between(0, job.base)
        found["base"] = bleu(list(translator.predict(base.sources)), base.references)
    return found | {"seconds": time.perf_counter() - began}


def learn(translator: Any, pairs: Pairs, replayed: Pairs | None) -> None:
    """Learn pairs without translating them."""
    for at, pair in enumerate(zip(*pairs, strict=True)):
        translator.learn_one(*pair)
        if replayed is not None:
            translator.learn_one(replayed.sources[at], replayed.references[at])


def play(translator: Any, job: Job, pairs: Pairs, at: int, replayed: Pairs | None) -> dict[str, Any]:
    """Translate a pair, then learn it; with the strokes that it would have cost before."""
    source, reference = pairs.sources[at], pairs.references[at]
    record: dict[str, Any] = {"at": at, "words": len(reference.split())}
    if job.strokes and at % job.strokes == 0:
        record["strokes"] = count_strokes(translator, source, reference)
    transcript = (translator.play if job.updates else translator.evaluate)([source], [reference])
    if replayed is not None:
        translator.learn_one(replayed.sources[at], replayed.references[at])
    pieces = len(translator.vocabulary.encode(reference)) + 1
    return record | {"found": transcript.predictions[0], "loss": float(transcript.losses[0]), "pieces": pieces}


def base_pairs(count: int, seed: int = 1) -> Pairs:
    """Random pairs of the base domain to learn again."""
    base, _ = split_domains(read_pairs(DATA, "train"))
    places = Random(seed).sample(range(len(base.sources)), count)
    return Pairs([base.sources[at] for at in places], [base.references[at] for at in places])
