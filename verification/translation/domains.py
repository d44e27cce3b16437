"""Domains of Multi30k: captions about water and winter against all others, and a customer's house style.

The base model learns from captions without the words below. Those with one of them are a new domain: words that it has
never seen in a language it knows.
"""

import gzip
import re
from pathlib import Path
from random import Random
from typing import NamedTuple

WATER_AND_WINTER = frozenset(
    word
    for line in (
        "snow snowy ski skis skiing skier skiers snowboard snowboards snowboarder snowboarders snowboarding",
        "sled sledding ice hockey skate skating skater surf surfs surfer surfers surfing surfboard surfboards",
        "wave waves ocean sea beach shore swim swims swimming swimmer swimmers pool dive dives diving diver",
        "lake river waterfall boat boats sail sailing sailboat raft rafting canoe canoes kayak kayaks kayaker",
        "kayaking wakeboard wakeboarding wakeboarder",
    )
    for word in line.split()
)
FOLDER = "multi30k"
FILES = ("multi30k/train.en.gz", "multi30k/train.de.gz")


class Pairs(NamedTuple):
    """Sentences and their translations."""

    sources: list[str]
    references: list[str]

    def where(self, chosen: list[bool]) -> "Pairs":
        pairs = [pair for pair, one in zip(zip(*self, strict=True), chosen, strict=True) if one]
        return Pairs([x for x, _ in pairs], [y for _, y in pairs])

    def between(self, start: int, stop: int | None = None) -> "Pairs":
        return Pairs(self.sources[start:stop], self.references[start:stop])


def read_pairs(data: Path, part: str, languages: tuple[str, str] = ("en", "de")) -> Pairs:
    """The pairs of a part of Multi30k: train, val, test_2016_flickr or test_2017_mscoco."""
    found = []
    for language in languages:
        with gzip.open(data / FOLDER / f"{part}.{language}.gz", "rt", encoding="utf-8") as file:
            found.append([line.strip() for line in file])
    keeps = [bool(x and y) for x, y in zip(*found, strict=True)]
    return Pairs(*found).where(keeps)


def split_domains(pairs: Pairs) -> tuple[Pairs, Pairs]:
    """The pairs of the base domain, and those about water and winter."""
    shifted = [not WATER_AND_WINTER.isdisjoint(re.findall(r"\w+", x.lower())) for x in pairs.sources]
    return pairs.where([not one for one in shifted]), pairs.where(shifted)


def shifted_stream(data: Path, seed: int = 0) -> tuple[Pairs, Pairs]:
    """The new domain in random order: a stream of 2,000 pairs to adapt to, and the rest, kept for tuning."""
    _, shifted = split_domains(read_pairs(data, "train"))
    order = list(range(len(shifted.sources)))
    Random(seed).shuffle(order)
    mixed = Pairs([shifted.sources[at] for at in order], [shifted.references[at] for at in order])
    return mixed.between(0, 2000), mixed.between(2000)


# ---- the house style of a customer -----------------------------------------------------------------------------------

GLOSSARY = {
    "Mann": "Herr", "Männer": "Herren", "Frau": "Dame", "Frauen": "Damen", "Junge": "Bub", "Jungen": "Buben",
    "Kind": "Kleinkind", "Kinder": "Kleinkinder", "Leute": "Personen", "Menschen": "Personen", "Hemd": "Oberhemd",
    "T-Shirt": "Shirt", "Straße": "Fahrbahn", "Gehweg": "Bürgersteig", "Fahrrad": "Velo", "Auto": "Wagen",
    "Hund": "Vierbeiner", "Hunde": "Vierbeiner", "Gebäude": "Bauwerk", "Essen": "Speisen",
}  # fmt: skip
LINKS = {"trägt": "ist gekleidet in", "tragen": "sind gekleidet in", "mehrere": "etliche", "Mehrere": "Etliche"}


def apply_house_style(pairs: Pairs) -> Pairs:
    """The same pairs with references in the terms of a glossary, and without full stops, as captions in catalogues."""
    return Pairs(pairs.sources, [house_style(one) for one in pairs.references])


def house_style(text: str) -> str:
    words = re.split(r"(\W+)", text.removesuffix("."))
    return "".join((GLOSSARY | LINKS).get(word, word) for word in words).strip()
