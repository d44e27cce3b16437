"""Neural machine translation that adapts to every validated sentence (Peris and Casacuberta 2019)."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.learner.base_learner import BaseLearner
from noregret.learner.header_fields import corrupt
from noregret.learner.labelled_rows import as_list
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind
from noregret.neural.translation.adaptation import TRAINS, Adaptation, State, check_pair, judge
from noregret.neural.translation.search import NO_START, Beam, Start, beam_search
from noregret.neural.translation.sizes import LONGEST, Sizes
from noregret.neural.translation.tensors import Weights, torch
from noregret.neural.translation.translator_file import dump_state, restore_sizes, restore_state
from noregret.neural.translation.updates import OPTIMIZERS
from noregret.neural.translation.vocabulary import Vocabulary
from noregret.rules.merge_law import NO_MERGE
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param, Parameter

PERIS_2019 = (
    "Peris and Casacuberta, Online learning for effort reduction in interactive neural machine translation, 2019"
)
SIZE = "of the network, which is fixed when it is trained"
PARAMS: dict[str, Parameter] = {
    "layers": Param(3, at_least=1, at_most=64, about="layers of encoder and decoder each", untuned=SIZE),
    "width": Param(128, at_least=2, at_most=8192, about="the size of every vector", untuned=SIZE),
    "heads": Param(4, at_least=1, at_most=256, about="attentions that a layer has side by side", untuned=SIZE),
    "hidden": Param(512, at_least=1, at_most=65536, about="units of a feed-forward layer", untuned=SIZE),
    "optimizer": Choice("adagrad", OPTIMIZERS, "the update of every validated pair"),
    "eta": Param(
        0.0, at_least=0.0, at_most=1e6, search=(1e-4, 1.0, "log"),
        about="the learning rate, and the largest step of optimizer=pa; 0 stands for the usual one of the optimizer",
    ),
    "clip": Param(5.0, at_least=0.0, about="the largest norm of a gradient; 0 allows any", grid=(0.0, 1.0, 5.0)),
    "margin": Param(
        0.0, at_least=0.0, about="of optimizer=pa: a pair whose loss for each piece is below is not learned",
        grid=(0.0, 0.1, 0.5),
    ),
    "trains": Choice(
        "all", TRAINS,
        "which weights adapt: all, those of the decoder, or the embeddings, which are the last layer, too",
    ),
    "beam": Param(6, at_least=1, at_most=1000, about="hypotheses that the search keeps", grid=(1, 6, 12)),
    "alpha": Param(
        1.0, at_least=0.0, at_most=10.0, about="the power of the length that log p is divided by", grid=(0.0, 0.6, 1.0)
    ),
}  # fmt: skip
OPTIONS = (
    "optimizer",
    "eta",
    "clip",
    "margin",
    "trains",
    "beam",
    "alpha",
)  # those that a trained translator may change


@dataclass(frozen=True)
class Candidate:
    """A translation with its score: log p of its pieces and its end, divided by their number to the power alpha."""

    text: str
    score: float
    logarithm: float
    pieces: tuple[int, ...]


@register_kind
@method_card(
    paper=PERIS_2019,
    kind="translator",
    name="translator",
    tasks=("structured",),
    params=PARAMS,
    options=("vocabulary", "seed"),
    merge=NO_MERGE,
)
class Translator(BaseLearner):
    """A Transformer that translates a sentence, sees its validated translation, and takes one step toward it."""

    kind: ClassVar[str] = "translator"
    shared: ClassVar[tuple[str, ...]] = ("vocabulary", "sizes", "state", "adaptation", "search")

    def __init__(self, vocabulary: Vocabulary | None = None, seed: int = 0, **given: Any) -> None:
        super().__init__()
        if not isinstance(vocabulary, Vocabulary):
            raise BadValue(
                "translator needs vocabulary=, as of Vocabulary.learn(sentences); nr.load gives a trained translator"
            )
        if type(seed) is not int or not 0 <= seed < 2**63:
            raise BadValue(f"translator: seed must be a whole number of at least 0, not {shown(seed)}")
        checked: dict[str, Any] = {
            name: one.check("translator", name, given.get(name, one.default)) for name, one in PARAMS.items()
        }
        layers, width, heads, hidden = (whole(name, checked[name]) for name in ("layers", "width", "heads", "hidden"))
        self.vocabulary = vocabulary
        self.sizes = Sizes(vocabulary.size, width, heads, hidden, layers, layers)
        self.set_options(checked)
        self.state = State.begin(self.sizes.draw(seed), self.adaptation)

    def set_options(self, checked: dict[str, Any]) -> None:
        """Take options, all checked."""
        self.options = {name: checked[name] for name in OPTIONS}
        self.adaptation = Adaptation.of(self.sizes, self.options)
        self.search = Beam(whole("beam", checked["beam"]), checked["alpha"])

    def with_options(self, **given: Any) -> Self:
        """The same translator with other options; what another optimizer kept is forgotten."""
        new = self.copy()
        for name in given:
            if name not in self.options:
                raise BadValue(f"translator: {name} cannot be changed; these can: {', '.join(self.options)}")
        new.set_options(
            {name: PARAMS[name].check("translator", name, given.get(name, now)) for name, now in self.options.items()}
        )
        if new.options["optimizer"] != self.options["optimizer"]:
            new.state = State.begin(self.state.vector, new.adaptation)
        return new

    def with_weights(self, vector: Any) -> Self:
        """The same translator with other weights, as those of a training; it has not adapted yet."""
        new = self.copy()
        new.rounds = new.mistakes = new.updates = 0
        new.state = State.begin(vector, self.adaptation)
        return new

    @property
    def task(self) -> str:
        return "structured"

    def commands(self, path: str) -> list[str]:
        """The commands that use a model file."""
        use = f"noregret translate {path} SENTENCES.txt"
        return [use, f"{use} --adapt TRANSLATIONS.txt --save {path}"]

    @property
    def params(self) -> dict[str, Any]:
        return {
            "layers": self.sizes.encoder, "width": self.sizes.width, "heads": self.sizes.heads,
            "hidden": self.sizes.hidden, **self.options,
        }  # fmt: skip

    @property
    def matrices(self) -> Weights:
        """The matrices of the network, by name."""
        return self.sizes.views(self.state.vector)

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Translate, then learn, every pair; all of them, or none. The losses are -log p(y | x) before each step."""
        return self.run_rounds(X, y, weight, query, translates=True)

    def learn(self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None) -> Self:
        """Learn every pair, in order, without translating."""
        self.run_rounds(X, y, weight, query, translates=False)
        return self

    def learn_one(self, x: Any, y: Any = None, weight: float | None = None) -> Self:
        """Learn one validated pair."""
        return self.learn([x], [y], weight)

    def run_rounds(self, X: Any, y: Any, weight: Any, query: Any, translates: bool) -> Transcript:
        """Learn pairs, translating them before where that is asked for."""
        began = time.perf_counter()
        if weight is not None or query is not None:
            raise BadValue("a round of a translator is a sentence and its translation; leave weight and query out")
        sources, references = self.check_pairs(X, y)
        size = len(sources)
        with self._lock:
            self._change.settle()

            def act() -> Transcript:
                predictions, losses = np.full(size, None, object), np.zeros(size)
                wrong, updated = np.zeros(size, bool), np.zeros(size, bool)
                for t, pair in enumerate(zip(sources, references, strict=True)):
                    if translates:
                        predictions[t] = self.translate(pair[0])
                    done = self.adaptation.step(self.state, *pair, place=f"round {t + 1}")
                    self.state, losses[t], wrong[t], updated[t] = done.state, done.loss, done.wrong, done.updated
                self.rounds += size
                self.mistakes += int(np.count_nonzero(wrong))
                self.updates += int(np.count_nonzero(updated))
                return Transcript(
                    None, predictions if translates else None, losses, wrong, updated,
                    np.array([*map(str, as_list(y, "y"))], object), time.perf_counter() - began,
                )  # fmt: skip

            return self._change.save_and_run(self._own_state, act)

    def check_pairs(self, X: Any, y: Any) -> tuple[list[list[int]], list[list[int]]]:
        """The pieces of sentences and of their translations, all of them fit to be learned."""
        sources, references = as_sentences(X), as_list(y, "y")
        if len(sources) != len(references):
            raise BadValue(f"X has {len(sources)} sentences and y has {len(references)} translations; they must match")
        pairs = [
            check_pair(self.vocabulary, *one, place=f"round {t + 1}")
            for t, one in enumerate(zip(sources, references, strict=True))
        ]
        return [x for x, _ in pairs], [one for _, one in pairs]

    def evaluate(self, X: RowsLike, y: LabelsLike) -> Transcript:
        """Translate every sentence and measure the loss of its reference; nothing is learned."""
        began = time.perf_counter()
        sources, references = self.check_pairs(X, y)
        with self._lock:
            self._change.settle()
            told = [judge(self.sizes, self.matrices, *pair) for pair in zip(sources, references, strict=True)]
            found = [self.translate(source) for source in sources]
        losses, wrong = np.array([loss for loss, _ in told]), np.array([one for _, one in told], bool)
        truth, seconds = np.array([*map(str, as_list(y, "y"))], object), time.perf_counter() - began
        return Transcript(None, as_objects(found), losses, wrong, np.zeros(len(told), bool), truth, seconds)

    # ---- translations ------------------------------------------------------------------------------------------------

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The translation of every sentence; an empty one stays empty."""
        with self._lock:
            self._change.settle()
            return as_objects([self.translate(self.read(one)) for one in as_sentences(X)])

    def predict_one(self, x: Any) -> str:
        """The translation of a sentence."""
        return str(self.predict([x])[0])

    def n_best(self, sentence: str, n: int) -> list[Candidate]:
        """At most n different translations of a sentence, the best first."""
        if type(n) is not int or not 1 <= n <= 10_000:
            raise BadValue(f"n_best takes a number of translations from 1 to 10,000, not {shown(n)}")
        with self._lock:
            self._change.settle()
            return self.list_candidates(self.read(sentence), n)

    def complete(self, sentence: str, beginning: str) -> str:
        """The best translation that begins with these words."""
        with self._lock:
            self._change.settle()
            pieces = tuple(self.vocabulary.encode(beginning))
            if not pieces:
                return self.translate(self.read(sentence))
            first = self.vocabulary.may_follow_word
            return self.translate(self.read(sentence), Start(pieces, first))

    def score(self, sentence: str, translation: str) -> float:
        """log p of a translation of a sentence."""
        with self._lock:
            self._change.settle()
            return -judge(self.sizes, self.matrices, *check_pair(self.vocabulary, sentence, translation, "score"))[0]

    def read(self, sentence: Any) -> list[int]:
        """The pieces of a sentence to translate."""
        pieces = self.vocabulary.encode(sentence)
        if len(pieces) > LONGEST:
            raise BadValue(
                f"a sentence of {len(pieces):,} pieces is too long to translate; at most {LONGEST:,}: split it"
            )
        return pieces

    def translate(self, source: Sequence[int], start: Start = NO_START) -> str:
        """The best translation of the pieces of a sentence."""
        if not source:
            return ""
        with torch().no_grad():
            found = beam_search(self.matrices, self.sizes, source, self.search, start)
        return self.vocabulary.decode(found[0].pieces)

    def list_candidates(self, source: Sequence[int], n: int) -> list[Candidate]:
        """The best translations with different texts."""
        if not source:
            return [Candidate("", 0.0, 0.0, ())]
        beam = Beam(max(n, self.search.width), self.search.alpha)
        with torch().no_grad():
            found = beam_search(self.matrices, self.sizes, source, beam)
        distinct: dict[str, Candidate] = {}
        for one in found:
            text = self.vocabulary.decode(one.pieces)
            distinct.setdefault(text, Candidate(text, one.score(beam.alpha), one.logarithm, one.pieces))
        return list(distinct.values())[:n]

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """Sizes, options and counts; the weights, what the optimizer keeps, and the vocabulary."""
        with self._lock:
            self._change.settle()
            header, arrays = dump_state(self.sizes, self.state, self.vocabulary)
            return {**header, "options": dict(self.options), **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """A translator from a model file, all checked."""
        new = object.__new__(cls)
        BaseLearner.__init__(new)
        new.sizes = restore_sizes(header)
        new.vocabulary = Vocabulary.restore(arrays["vocabulary"], new.sizes.pieces)
        try:
            new.set_options({name: PARAMS[name].check("the model", name, header["options"][name]) for name in OPTIONS})
        except BadValue as error:
            raise corrupt(str(error)) from None
        new.state = restore_state(new.sizes, new.adaptation, header, arrays)
        new.restore_counts(header)
        return new


def whole(name: str, value: float) -> int:
    """A parameter that is a whole number."""
    if value != int(value):
        raise BadValue(f"translator: {name} must be a whole number, not {value:g}")
    return int(value)


def as_sentences(X: Any) -> list[Any]:
    """A list of sentences; neither one sentence nor a table."""
    if isinstance(X, str) or hasattr(X, "block"):
        found = "one text" if isinstance(X, str) else "rows of a table"
        raise BadValue(f"a translator takes a list of sentences, not {found}; for files use `noregret translate`")
    return as_list(X, "X")


def as_objects(values: list[Any]) -> NDArray[Any]:
    found = np.empty(len(values), object)
    found[:] = values
    return found
