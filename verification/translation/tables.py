"""Turn the records of verification.translation.adapt into the tables and the figure of docs/translation.md.

python -m verification.translation.tables DIR [--figure progress.png]
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from noregret.neural.translation.measures import bleu, ter
from noregret.neural.translation.updates import OPTIMIZERS
from noregret.plots.figure import COLOURS, GREY, make_figure, save_figure
from verification.experiments.__main__ import markdown
from verification.reproduce.data import Missing, folder
from verification.translation.domains import FILES
from verification.translation.jobs import NO_UPDATE, read_sets

METHODS = (NO_UPDATE, *OPTIMIZERS)
TITLES = {"water_and_winter": "water and winter", "test_2017_mscoco": "MSCOCO 2017", "house_style": "house style"}
Record = dict[str, Any]
References = dict[str, list[str]]


class Played(NamedTuple):
    """What a method made of a stream."""

    found: list[str]
    references: list[str]
    records: list[Record]

    @classmethod
    def of(cls, records: list[Record], references: list[str]) -> "Played":
        records = sorted(records, key=lambda one: int(one["at"]))
        return cls([one["found"] for one in records], [references[one["at"]] for one in records], records)

    def bleu(self, start: int = 0, stop: int | None = None) -> float:
        return bleu(self.found[start:stop], self.references[start:stop])

    def later_half(self) -> "Played":
        half = len(self.found) // 2
        return Played(self.found[half:], self.references[half:], self.records[half:])

    def ter(self) -> float:
        return ter(self.found, self.references)

    def loss(self) -> float:
        """The mean of -log p over pieces."""
        return float(sum(one["loss"] for one in self.records) / sum(one["pieces"] for one in self.records))

    def word_strokes(self) -> float:
        """The words typed for each 100 words of the references."""
        counted = [one for one in self.records if "strokes" in one]
        return float(100.0 * sum(one["strokes"] for one in counted) / sum(one["words"] for one in counted))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verification.translation.tables", description=__doc__)
    parser.add_argument("records", metavar="DIR", type=Path, help="the folder with tune.jsonl and measure.jsonl")
    parser.add_argument("--data", metavar="DIR", help="the folder of data; by default that of NOREGRET_DATA")
    parser.add_argument("--figure", metavar="FILE", help="draw BLEU along the streams")
    told = parser.parse_args(arguments)
    try:
        data = folder(told.data, FILES[0])
    except Missing as missing:
        print(f"python -m verification.translation.tables: {missing}", file=sys.stderr)
        return 2
    references = {name: pairs.references for name, pairs in read_sets(data).items()}
    tuned, measured = (read_jobs(told.records / f"{stage}.jsonl") for stage in ("tune", "measure"))
    for table in (tuning(tuned, references), *adaptation(measured, references), forgetting(measured, references)):
        print("\n".join(markdown(*table)), end="\n\n")
    if told.figure:
        draw(measured, references, told.figure)
    return 0


def read_jobs(path: Path) -> list[dict[str, Any]]:
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def tuning(jobs: list[dict[str, Any]], references: References) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """BLEU on the two tuning sets, and its mean, for every rate."""
    scores: dict[tuple[int, float, float], dict[str, float]] = defaultdict(dict)
    for one in jobs:
        name, options = one["job"]["set"], one["job"]["options"]
        key = METHODS.index(one["method"]), options.get("eta", 0.0), options.get("margin", 0.0)
        scores[key][name] = Played.of(one["records"], references[name]).bleu()
    rows = []
    for (method, eta, margin), found in sorted(scores.items()):
        both = [found.get(f"tuning_{name}") for name in ("water_and_winter", "house_style")]
        mean = "" if None in both else f"{sum(filter(None, both)) / 2:.1f}"
        cells = ["" if one is None else f"{one:.1f}" for one in both]
        rows.append((METHODS[method], f"{eta:g}" if eta else "", f"{margin:g}" if eta else "", *cells, mean))
    return ("update", "eta", "margin", "water and winter", "house style", "mean"), rows


def play_all(jobs: list[dict[str, Any]], name: str, references: References) -> dict[str, Played]:
    """The streams that were played whole, by method."""
    records: dict[str, list[Record]] = defaultdict(list)
    for one in jobs:
        if one["job"]["set"] == name and not one["job"]["replay"]:
            records[one["method"]] += one["records"]
    return {method: Played.of(records[method], references[name]) for method in METHODS if records[method]}


def adaptation(
    jobs: list[dict[str, Any]], references: References
) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """A table for each stream: every measure over all of it, and over its later half."""
    measures: list[Callable[[Played], float]] = [Played.bleu, Played.ter, Played.word_strokes, Played.loss]
    tables = []
    for name, title in TITLES.items():
        rows = []
        for method, played in play_all(jobs, name, references).items():
            cells = [
                f"{measure(part):.{2 if measure == Played.loss else 1}f}"
                for measure in measures
                for part in (played, played.later_half())
            ]
            rows.append((method, *cells))
        heads = [cell for one in ("BLEU", "TER", "words typed, %", "loss") for cell in (one, "later half")]
        tables.append(((f"{title}", *heads), rows))
    return tables


def forgetting(jobs: list[dict[str, Any]], references: References) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """BLEU on the base domain after the stream about water and winter, with and without replay."""
    name = "water_and_winter"
    half = {method: played.later_half().bleu() for method, played in play_all(jobs, name, references).items()}
    rows: list[tuple[str, ...]] = []
    for one in jobs:
        if one["job"]["base"]:
            method, told = str(one["method"]), one["job"]
            if told["replay"]:
                half[method] = Played.of(one["records"], references[name]).bleu()
            rows.append((method, f"{half[method]:.1f}", f"{one['base']:.1f}"))
    order = [one for method in METHODS for one in (method, f"{method} with replay")]
    rows.sort(key=lambda row: order.index(row[0]))
    return ("update", "BLEU on the later half of water and winter", "BLEU on the base domain afterwards"), rows


def draw(jobs: list[dict[str, Any]], references: References, path: str) -> None:
    """BLEU of 200 neighbouring pairs along every stream, above that of no update."""
    figure, axes = make_figure(columns=len(TITLES))
    for panel, (name, title) in zip(axes, TITLES.items(), strict=True):
        streams = play_all(jobs, name, references)
        for number, (method, played) in enumerate(streams.items()):
            size = len(played.found)
            width = 400 if size > 1000 else 200
            places = list(range(0, size - width + 1, 50))
            values = [played.bleu(at, at + width) - streams[NO_UPDATE].bleu(at, at + width) for at in places]
            colour = GREY if method == NO_UPDATE else COLOURS[number - 1]
            panel.plot([at + width for at in places], values, color=colour, label=method)
        panel.set_title(title, fontsize=10)
        panel.set_xlabel("pairs seen")
    axes[0].set_ylabel("BLEU above no update")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False, fontsize=8)
    save_figure(figure, path, "--figure")


if __name__ == "__main__":
    sys.exit(main())
