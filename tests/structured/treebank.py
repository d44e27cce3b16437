"""Small made-up sentences with dependency trees, for tests of parsers."""

import random
from typing import Any

WORDS = {"D": ("the", "a"), "N": ("dog", "cat", "fish"), "V": ("sees", "runs"), "A": ("big", "red"), "P": (".",)}
Tokens = list[tuple[str, str]]
Tree = list[tuple[int, str]]


def noun_phrase(rng: random.Random, first: int, head: int, relation: str) -> tuple[list[str], Tree]:
    """A noun with what is before it; the first word has the number `first`."""
    tags = ["D"] * rng.randint(0, 1) + ["A"] * rng.randint(0, 1)
    noun = first + len(tags)
    return [*tags, "N"], [*((noun, "det" if tag == "D" else "amod") for tag in tags), (head, relation)]


def treebank(count: int, seed: int = 0) -> tuple[list[Tokens], list[Tree]]:
    """Sentences such as "the dog sees a cat ." with their trees."""
    rng = random.Random(seed)
    sentences, trees = [], []
    for _ in range(count):
        size = len(noun_phrase(random.Random(at := rng.random()), 1, 0, "")[0])
        tags, tree = noun_phrase(random.Random(at), 1, size + 1, "nsubj")
        verb = len(tags) + 1
        tags, tree = [*tags, "V"], [*tree, (0, "root")]
        if rng.random() < 0.5:
            more, arcs = noun_phrase(rng, len(tags) + 1, verb, "obj")
            tags, tree = tags + more, tree + arcs
        if rng.random() < 0.5:
            tags, tree = [*tags, "P"], [*tree, (verb, "punct")]
        sentences.append([(rng.choice(WORDS[tag]), tag) for tag in tags])
        trees.append(tree)
    return sentences, trees


def random_trees(count: int, longest: int, seed: int = 0) -> tuple[list[Tokens], list[Any]]:
    """Sentences of random words with random trees, crossing arcs included."""
    rng = random.Random(seed)
    sentences, trees = [], []
    for _ in range(count):
        length = rng.randint(1, longest)
        tags = [rng.choice("DNVAP") for _ in range(length)]
        sentences.append([(rng.choice(WORDS[tag]), tag) for tag in tags])
        order = rng.sample(range(1, length + 1), length)
        heads = {word: rng.choice(order[:at]) if at else 0 for at, word in enumerate(order)}
        trees.append([heads[word] for word in range(1, length + 1)])
    return sentences, trees
