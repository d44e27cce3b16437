"""Training the base model of a translator: passes over sentence pairs in batches, until translations stop improving."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from noregret.errors import import_extra
from noregret.neural.translation.search import greedy_batch
from noregret.neural.translation.sizes import Sizes
from noregret.neural.translation.tensors import Tensor, Weights, functional, torch
from noregret.neural.translation.transformer import decode, encode
from noregret.neural.translation.vocabulary import BEGIN, END, PAD, Vocabulary

Pair = tuple[list[int], list[int]]
BATCH_OF_VALIDATION = 64
LONGEST = 60  # pieces of a translation in validation


@dataclass(frozen=True)
class Plan:
    """How to train."""

    passes: int = 20  # at most
    tokens: int = 3000  # pieces of a batch, both languages and filling included
    rate: float = 2e-3  # the largest learning rate, at the end of the warm-up
    warmup: int = 800  # steps of increasing rates; afterwards they fall as 1 / sqrt(step)
    smoothing: float = 0.1  # the probability that is spread over all pieces
    drop: float = 0.1  # the probability that a unit is left out
    patience: int = 3  # passes without a better BLEU before training ends
    clip: float = 1.0
    seed: int = 0
    device: str = "cpu"
    seconds: float = math.inf  # no pass begins later

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 1."""
        return self.rate * min(step / self.warmup, math.sqrt(self.warmup / step))


@dataclass(frozen=True)
class Pass:
    """What a pass over the training pairs gave."""

    number: int
    steps: int
    loss: float  # the mean over target pieces, smoothed
    bleu: float  # of greedy translations of the validation pairs
    seconds: float

    def __str__(self) -> str:
        return (
            f"pass {self.number:2d}: {self.steps:6,} steps, loss {self.loss:.4f} a piece, "
            f"validation BLEU {self.bleu:.2f}, {self.seconds:.0f} s"
        )


def train(
    vector: Tensor,
    sizes: Sizes,
    pairs: Sequence[Pair],
    validate: Callable[[Weights], float],
    plan: Plan,
    tell: Callable[[Pass], None],
) -> Tensor:
    """The weights of the pass with the best validation BLEU."""  # fmt: skip
    began, steps, best = time.monotonic(), 0, (-1.0, vector)
    torch().manual_seed(plan.seed)
    generator = torch().Generator().manual_seed(plan.seed)
    leaves = {name: one.clone().to(plan.device).requires_grad_() for name, one in sizes.views(vector).items()}
    adam = torch().optim.Adam(leaves.values(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
    behind = 0
    for number in range(1, plan.passes + 1):
        total = count = 0.0
        for source, target in batches(pairs, plan.tokens, generator):
            steps += 1
            for group in adam.param_groups:
                group["lr"] = plan.rate_at(steps)
            loss, pieces = batch_loss(leaves, sizes, source.to(plan.device), target.to(plan.device), plan)
            adam.zero_grad()
            loss.backward()
            torch().nn.utils.clip_grad_norm_(leaves.values(), plan.clip)
            adam.step()
            total, count = total + float(loss.detach()) * pieces, count + pieces
        with torch().no_grad():
            bleu = validate(leaves)
            if bleu > best[0]:
                behind, best = 0, (bleu, torch().cat([one.detach().cpu().flatten() for one in leaves.values()]))
            else:
                behind += 1
        tell(Pass(number, steps, total / count, bleu, time.monotonic() - began))
        if behind == plan.patience or time.monotonic() - began > plan.seconds:
            break
    return best[1]


def batch_loss(w: Weights, sizes: Sizes, source: Tensor, target: Tensor, plan: Plan) -> tuple[Tensor, int]:
    """The smoothed loss of a batch, the mean over its target pieces, and how many these are."""

    def drop(x: Tensor) -> Tensor:
        return functional().dropout(x, plan.drop)

    memory, allowed = encode(w, sizes, source, drop)
    scores = decode(w, sizes, target[:, :-1], memory, allowed, drop)
    truth = target[:, 1:]
    loss = functional().cross_entropy(
        scores.flatten(0, 1), truth.flatten(), ignore_index=PAD, label_smoothing=plan.smoothing
    )
    return loss, int((truth != PAD).sum())


def batches(pairs: Sequence[Pair], tokens: int, generator: Any) -> Iterator[tuple[Tensor, Tensor]]:
    """All pairs once, in random order, batches of similar lengths."""
    noise = torch().rand(len(pairs), generator=generator).tolist()
    order = sorted(range(len(pairs)), key=lambda at: (len(pairs[at][0]) + len(pairs[at][1])) // 3 + noise[at])
    groups: list[list[int]] = [[]]
    longest = 0
    for at in order:
        longest = max(longest, len(pairs[at][0]) + 1, len(pairs[at][1]) + 2)
        if groups[-1] and 2 * longest * (len(groups[-1]) + 1) > tokens:
            groups.append([])
            longest = max(len(pairs[at][0]) + 1, len(pairs[at][1]) + 2)
        groups[-1].append(at)
    for number in torch().randperm(len(groups), generator=generator).tolist():
        chosen = [pairs[at] for at in groups[number]]
        yield fill_up([[*x, END] for x, _ in chosen]), fill_up([[BEGIN, *y, END] for _, y in chosen])


def fill_up(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of one length, filled up with PAD."""
    tensors = [torch().tensor(row) for row in rows]
    return torch().nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=PAD)


def validation(
    sizes: Sizes, vocabulary: Vocabulary, sources: Sequence[str], references: Sequence[str]
) -> Callable[[Weights], float]:
    """The BLEU of greedy translations, as a function of the weights."""
    sacrebleu = import_extra("sacrebleu", "translation", "training a translator")
    encoded = [vocabulary.encode(one) for one in sources]
    order = sorted(range(len(encoded)), key=lambda at: len(encoded[at]))

    def measure(w: Weights) -> float:
        found = [""] * len(encoded)
        for first in range(0, len(order), BATCH_OF_VALIDATION):
            places = order[first : first + BATCH_OF_VALIDATION]
            longest = min(LONGEST, 2 * max(len(encoded[at]) for at in places) + 4)
            for at, pieces in zip(places, greedy_batch(w, sizes, [encoded[at] for at in places], longest), strict=True):
                found[at] = vocabulary.decode(pieces)
        return float(sacrebleu.corpus_bleu(found, [list(references)]).score)

    return measure
