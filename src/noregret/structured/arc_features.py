"""Features of the arcs of sentences, computed for many arcs at once and kept as the numbers of hashed cells.

A feature is the hash of its template and of the texts its atoms stand for; it is found in one of 2^bits cells (feature
hashing), so no names are stored. Paper: Bohnet, Very high accuracy and fast dependency parsing is not a contradiction,
COLING 2010 (the hash kernel).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import SparseBlock
from noregret.features.hashing import hash_name
from noregret.structured.arc_templates import HEAD, MODIFIER, SIDE, SPAN, WITHIN, ArcAtom, Template, parse_arc_templates
from noregret.structured.templates import Atom, property_of

Integers = NDArray[np.int64]
Hashes = NDArray[np.uint64]
SPREAD, STIR, FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(29)
ROOT = {"word": "<root>", "tag": "<root>"}
OUTSIDE = hash_name("<outside>")  # before the root and after the last word
BINS = np.array([1, 2, 3, 4, 5, 6, 11])  # the smallest distance of each class of distances
ARCS_AT_ONCE = 1 << 16


class Nodes(NamedTuple):
    """The roots and words of sentences, one after another, each sentence with margins before and after it.

    Node j of sentence s (0 is the root) is at starts[s] + j of the vectors in `codes`, the hashes of each property.
    """

    lengths: Integers
    starts: Integers
    codes: dict[tuple[str, int], Hashes]


class Arcs(NamedTuple):
    """Arcs of sentences, in the order of sentences: places of head and modifier among the nodes."""

    heads: Integers
    modifiers: Integers

    @property
    def size(self) -> int:
        return len(self.heads)

    def select(self, which: Any) -> "Arcs":
        """Some of them."""
        return Arcs(self.heads[which], self.modifiers[which])


class ArcExtractor:
    """Turns arcs into rows of hashed features by templates."""

    def __init__(self, templates: tuple[str, ...], bits: int) -> None:
        self.texts, self.bits = templates, bits
        parsed = parse_arc_templates(templates)
        seeds = [hash_name(f"template {text}") for text in templates]
        pairs = list(zip(parsed, seeds, strict=True))
        self.fixed = [pair for pair in pairs if all(one.of != WITHIN for one in pair[0])]
        self.within = [pair for pair in pairs if any(one.of == WITHIN for one in pair[0])]
        self.atoms = {one.atom for template in parsed for one in template if one.atom is not None}

    def rows(self, nodes: Nodes, arcs: Arcs) -> tuple[Integers, NDArray[np.int32]]:
        """The number of features of every arc, and their cells, sorted in each row and without duplicates."""
        counts, cells = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
        for first in range(0, arcs.size, ARCS_AT_ONCE):
            part = arcs.select(slice(first, first + ARCS_AT_ONCE))
            found = self.cells_of(nodes, part)
            counts.append(np.bincount(found >> self.bits, minlength=part.size))
            cells.append((found & ((1 << self.bits) - 1)).astype(np.int32))
        return np.concatenate(counts), np.concatenate(cells)

    def cells_of(self, nodes: Nodes, arcs: Arcs) -> Integers:
        """All features of some arcs as row * 2^bits + cell, sorted, each once."""
        shift = np.uint64(64 - self.bits)
        rows = np.arange(arcs.size, dtype=np.int64) << self.bits
        shapes = span_codes(arcs)
        found = [
            rows + (mix_all(template, seed, nodes, arcs, shapes) >> shift).astype(np.int64)
            for template, seed in self.fixed
        ]
        for template, seed in self.within:
            atom = next(one.atom for one in template if one.of == WITHIN)
            assert atom is not None
            row, code = words_between(nodes.codes[key_of(atom)], arcs)
            rest = tuple(one for one in template if one.of != WITHIN)
            hashes = mix(mix_all(rest, seed, nodes, arcs, shapes)[row], code)
            found.append(rows[row] + (hashes >> shift).astype(np.int64))
        flat = np.sort(np.concatenate(found))
        keep = np.ones(len(flat), bool)
        keep[1:] = flat[1:] != flat[:-1]
        return np.asarray(flat[keep])


@lru_cache(64)
def make_extractor(templates: tuple[str, ...], bits: int) -> ArcExtractor:
    """The extractor of templates, which were checked; the same for the same templates."""
    return ArcExtractor(templates, bits)


def key_of(atom: Atom) -> tuple[str, int]:
    """A property, wherever its word is."""
    return atom.name, atom.size


def mix(hashes: Hashes, code: Any) -> Hashes:
    """Mix one more text into hashes; the high bits depend on all of it."""
    hashes = (hashes ^ code) * SPREAD
    return np.asarray((hashes ^ (hashes >> FOLD)) * STIR)


def mix_all(template: Template, seed: int, nodes: Nodes, arcs: Arcs, shapes: tuple[Hashes, Hashes]) -> Hashes:
    """The hash of a template for every arc."""
    hashes = np.full(arcs.size, seed, np.uint64)
    for one in template:
        hashes = mix(hashes, code_of(one, nodes, arcs, shapes))
    return hashes


def code_of(one: ArcAtom, nodes: Nodes, arcs: Arcs, shapes: tuple[Hashes, Hashes]) -> Hashes:
    """The hash of the text that an atom stands for, for every arc."""
    if one.of in (SIDE, SPAN):
        return shapes[0] if one.of == SIDE else shapes[1]
    assert one.atom is not None
    assert one.of in (HEAD, MODIFIER)
    places = arcs.heads if one.of == HEAD else arcs.modifiers
    return nodes.codes[key_of(one.atom)][places + one.atom.offset]


def span_codes(arcs: Arcs) -> tuple[Hashes, Hashes]:
    """The direction of every arc, and its direction and distance, as small numbers."""
    distance = arcs.modifiers - arcs.heads
    side = (distance > 0).astype(np.uint64) + np.uint64(1)
    bins = np.searchsorted(BINS, np.abs(distance), "right").astype(np.uint64)
    return side, side * np.uint64(16) + bins


def words_between(codes: Hashes, arcs: Arcs) -> tuple[Integers, Hashes]:
    """Every different code of the words between head and modifier, with the number of its arc."""
    low, high = np.minimum(arcs.heads, arcs.modifiers), np.maximum(arcs.heads, arcs.modifiers)
    first, last = int(low.min(initial=0)), int(high.max(initial=0))
    rows, found = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    known, numbers = np.unique(codes[first : last + 1], return_inverse=True)
    # A code is between if its next occurrence after the lower end comes before the higher end.
    size = last - first + 1
    for number in range(len(known)):
        places = np.where(numbers == number, np.arange(size), size)
        following = np.minimum.accumulate(places[::-1])[::-1]  # the next place from each place on
        following = np.append(following, size)[1:]  # ... behind each place
        inside = np.flatnonzero(following[low - first] < high - first)
        rows.append(inside)
        found.append(np.full(len(inside), known[number], np.uint64))
    return np.concatenate(rows), np.concatenate(found)


def make_nodes(sentences: Sequence[Sequence[Any]], atoms: set[Atom]) -> Nodes:
    """The hashes of all properties that templates need, of every word of the sentences."""
    margin = max([1, *(abs(atom.offset) for atom in atoms)])
    lengths = np.array([len(one) for one in sentences], np.int64)
    ends = np.cumsum(lengths + 1 + 2 * margin)
    starts = ends - lengths - 1 - margin
    places = np.arange(int(lengths.sum())) + np.repeat(starts + 1 - (np.cumsum(lengths) - lengths), lengths)
    codes = {}
    for name, size in sorted({key_of(atom) for atom in atoms}):
        vector = np.full(int(ends[-1]) if len(ends) else 0, OUTSIDE, np.uint64)
        vector[starts] = hash_name(property_of(ROOT, Atom(name, size, 0)))
        vector[places] = property_codes(sentences, Atom(name, size, 0))
        codes[name, size] = vector
    return Nodes(lengths, starts, codes)


def property_codes(sentences: Sequence[Sequence[Any]], atom: Atom) -> Hashes:
    """The hash of a property of every word."""
    known: dict[Any, int] = {}
    found = []
    for sentence in sentences:
        for token in sentence:
            text = property_of(token, atom)
            code = known.get(text)
            if code is None:
                code = known[text] = hash_name(text)
            found.append(code)
    return np.array(found, np.uint64)


def all_arcs(nodes: Nodes) -> Arcs:
    """Every arc of every sentence, in the order of the rows that decoders of trees read."""
    heads, modifiers = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for start, length in zip(nodes.starts.tolist(), nodes.lengths.tolist(), strict=True):
        head = np.broadcast_to(np.arange(length + 1), (length, length + 1))
        keep = head != np.arange(1, length + 1)[:, None]
        heads.append(start + head[keep])
        modifiers.append(start + np.repeat(np.arange(1, length + 1), length))
    return Arcs(np.concatenate(heads), np.concatenate(modifiers))


def arcs_of(nodes: Nodes, heads: Integers) -> Arcs:
    """The arcs of one tree for each sentence: `heads` has the head of every word."""
    firsts = np.cumsum(nodes.lengths) - nodes.lengths
    start = np.repeat(nodes.starts, nodes.lengths)
    modifiers = np.arange(len(heads)) - np.repeat(firsts, nodes.lengths) + 1
    return Arcs(start + heads, start + modifiers)


def block_of(counts: Integers, cells: NDArray[np.int32], bits: int) -> SparseBlock:
    """Rows in which every feature has value 1."""
    indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
    return SparseBlock(indptr, cells, np.ones(len(cells)), 1 << bits, ready=False)
