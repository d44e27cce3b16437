"""How good reranked outputs are: corpus BLEU and TER of the first candidates, the chosen ones and the best ones."""

import importlib.util
from collections.abc import Sequence
from typing import Any

from noregret.data.candidate_lists import CandidateList
from noregret.data.words import split_words
from noregret.errors import BadValue, import_extra
from noregret.evaluation.tables import table
from noregret.loglinear.quality import Matches, corpus_bleu, match, text_losses

NAMES = ("first", "chosen", "oracle")
TITLES = {"first": "first candidate (no adaptation)", "chosen": "reranked online", "oracle": "best candidate (oracle)"}


class Outputs:
    """Chosen texts, scored as one corpus."""

    def __init__(self) -> None:
        self.matches: list[Matches] = []
        self.edits = self.words = 0.0

    @property
    def bleu(self) -> float:
        """Corpus BLEU, from 0 to 100."""
        return 100.0 * corpus_bleu(self.matches)

    @property
    def ter(self) -> float | None:
        """The translation edit rate in percent; None where it was not counted."""
        return 100.0 * self.edits / self.words if self.words else None


class RerankingCounts:
    """Compares, list by list, the first candidate, the one that was chosen before learning, and the best one."""

    def __init__(self, ter: bool | None = None) -> None:
        """`ter`: whether to count edits, which sacrebleu does; by default if it is installed."""
        found = importlib.util.find_spec("sacrebleu") is not None
        self.metric = None
        if found if ter is None else ter:
            self.metric = import_extra("sacrebleu.metrics", "translation", "the translation edit rate").TER()
        self.lists = self.candidates = self.changed = 0
        self.outputs = {name: Outputs() for name in NAMES}

    def add(self, lists: Sequence[CandidateList], places: Sequence[int]) -> None:
        """Count some lists, with the places that were predicted."""
        for one, place in zip(lists, places, strict=True):
            if one.texts is None or one.reference is None:
                raise BadValue(f"{one.place}: outputs are compared with references: candidates need texts, lists one")
            losses = text_losses(one.texts, one.reference, "bleu")
            self.count(one, {"first": 0, "chosen": int(place), "oracle": int(losses.argmin())})

    def count(self, one: CandidateList, places: dict[str, int]) -> None:
        assert one.texts is not None
        assert one.reference is not None
        reference = split_words(one.reference)
        edits: dict[str, tuple[float, float]] = {}
        for name, place in places.items():
            text, outputs = one.texts[place], self.outputs[name]
            outputs.matches.append(match(split_words(text), reference))
            if self.metric is not None:
                if text not in edits:
                    score = self.metric.sentence_score(text, [one.reference])
                    edits[text] = float(score.num_edits), float(score.ref_length)
                outputs.edits += edits[text][0]
                outputs.words += edits[text][1]
        self.lists += 1
        self.candidates += len(one)
        self.changed += places["chosen"] != 0

    def report(self) -> dict[str, Any]:
        """All of it, for a JSON report."""
        scores = {name: {"bleu": one.bleu, "ter": one.ter} for name, one in self.outputs.items()}
        return {"lists": self.lists, "candidates": self.candidates, "changed": self.changed, **scores}

    def line(self) -> str:
        """A line of progress."""
        first, chosen = self.outputs["first"].bleu, self.outputs["chosen"].bleu
        return f"{self.lists:>9,}  {first:>10.2f}  {chosen:>13.2f}  {chosen - first:>+7.2f}"

    def describe(self) -> str:
        """The table for people."""
        first = self.outputs["first"]
        rows = []
        for name, one in self.outputs.items():
            ter = "-" if one.ter is None or first.ter is None else f"{one.ter:.2f}"
            difference = "" if name == "first" else f"{one.bleu - first.bleu:+.2f}"
            rows.append((TITLES[name], f"{one.bleu:.2f}", difference, ter))
        text = table(("outputs", "BLEU", "difference", "TER"), rows)
        note = "" if self.metric is not None else "\nTER needs sacrebleu: pip install 'noregret[translation]'"
        return f"{text}\n{self.lists:,} lists, {self.changed:,} of them with another than the first candidate{note}"


HEAD = f"{'lists':>9}  {'BLEU first':>10}  {'BLEU reranked':>13}  {'gain':>7}"
