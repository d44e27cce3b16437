"""Adaptive reranking of translations: generative models of what was validated, and rules that learn from rankings."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.candidate_lists import CandidateList
from noregret.data.transcript import Transcript
from noregret.data.words import split_words
from noregret.errors import BadValue
from noregret.learner.arguments import describe
from noregret.learner.change import Undo
from noregret.learner.header_fields import corrupt, read_param
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.whole_change import run_whole
from noregret.loglinear.inner_learners import take_learner, take_model
from noregret.loglinear.language_model import LanguageModel
from noregret.loglinear.lexicon import TranslationLexicon
from noregret.loglinear.list_learner import ListLearner, read_start
from noregret.loglinear.list_player import ListPlayer, ListRounds, Tell
from noregret.loglinear.quality import QUALITY
from noregret.loglinear.recent_cache import RecentCache
from noregret.loglinear.rule_updates import (
    COMPETITOR,
    TARGET,
    WHOLE_STEPS,
    How,
    fit_to_rule,
    learn_by_rule,
    rule_scores,
)
from noregret.loglinear.score_spread import Spread, read_spread
from noregret.loglinear.text_features import Models, Words, generative_features, sparse_features, words_of
from noregret.loglinear.text_learner import FEW, TextLearner
from noregret.loglinear.undo_log import UndoLog
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Component, Param

Floats = NDArray[np.float64]
Rows = list[dict[str, float]]
MODE = Choice("combined", {"generative": None, "discriminative": None, "combined": None}, "generative: fixed weights "
              "of models that follow validated outputs; discriminative: learned weights; combined: both")  # fmt: skip
SPARSE = Choice("auto", {"auto": None, "yes": None, "no": None}, "whether weights are learned for n-grams and pairs of "
                "words; auto: by rules, not by rerankers such as ridge_reranker")  # fmt: skip
K = Param(5, at_least=1.0, about='how many candidates competitor="k_best" compares', grid=(1, 2, 5, 10))
START: Mapping[str, float] = {"score": 1.0}
GENERATIVE_START: Mapping[str, float] = {
    **START, "lexicon": 0.5, "inverse": 1.0, "language": 0.5, "cache1": 0.3, "cache2": 0.3, "cache3": 0.3,
}  # fmt: skip


USUAL_RULE, MIRA_RULE = "arow(r=100)", "pa1(C=0.003)"
SPREAD_LOSS = 0.1  # to a rule, one spread of the score is worth a loss of so much


class Described(NamedTuple):
    """The features of the candidates of a list."""

    rows: Rows  # the score, the numbers given and, unless discriminative, those of the models
    learned: Rows  # what weights are learned for: sparse features, or the same rows


MIRA = "mira"  # the name under which k-best MIRA is known: pa1 with competitor="k_best"


@register_kind
@method_card(
    paper="Waeschle, Simianer, Bertoldi, Riezler and Federico, Generative and discriminative methods for online "
    "adaptation in SMT, MT Summit, 2013",
    kind="adaptive_reranker",
    tasks=("structured",),
    params={
        "mode": MODE,
        "learner": Component(
            USUAL_RULE, "the learner of the weights: a rule, mira, or a reranker such as ridge_reranker"
        ),
        "target": TARGET,
        "competitor": COMPETITOR,
        "k": K,
        "sparse": SPARSE,
        "quality": QUALITY,
    },
    options=("start", "average", "native", "lexicon", "inverse", "language", "cache"),
    merge=Merge("heuristic", "the counts of the models add exactly; weights merge by the law of their learner"),
)
class AdaptiveReranker(ListPlayer):
    """Rerank translations by models that follow every validated output, and by weights learned from rankings.

    Translation lexicons of both directions, a language model and a cache of recent outputs learn each reference after
    its list was ranked, and score the candidates of the lists to come. A rule learns weights of n-grams and pairs of
    words, or with sparse="no" of the scores themselves, on top of the first weights. The score of the system is divided
    by its mean spread within lists. Trained models can be given: lexicon=, inverse= (target to source), language=,
    cache=.
    """

    kind: ClassVar[str] = "adaptive_reranker"
    shared: ClassVar[tuple[str, ...]] = ("start",)

    def __init__(
        self,
        mode: str = "combined",
        learner: Any = USUAL_RULE,
        target: str = "hope",
        competitor: str = "auto",
        k: float = 5,
        sparse: str = "auto",
        quality: str = "bleu",
        start: Any = None,
        average: bool | None = None,
        native: bool = True,
        lexicon: Any = None,
        inverse: Any = None,
        language: Any = None,
        cache: Any = None,
    ) -> None:
        self.mode = MODE.check(self.kind, "mode", mode)
        self.sparse = SPARSE.check(self.kind, "sparse", sparse)
        k = K.check(self.kind, "k", k)
        if k != int(k):
            raise BadValue(f"{self.kind}: k must be a whole number, not {k!r}")
        super().__init__(quality)
        if learner == MIRA:
            learner, competitor = MIRA_RULE, "k_best"
        usual = START if self.mode == "discriminative" else GENERATIVE_START
        self.start = read_start(self.kind, usual if start is None else start)
        self.lexicon = take_model(lexicon, TranslationLexicon, "lexicon")
        self.inverse = take_model(inverse, TranslationLexicon, "inverse")
        self.language = take_model(language, LanguageModel, "language")
        self.cache = take_model(cache, RecentCache, "cache")
        competitor = COMPETITOR.check(self.kind, "competitor", competitor)
        self.spread = Spread()
        self.learner: RuleLearner | ListLearner[Any] | None = None
        self.how = How(TARGET.check(self.kind, "target", target), competitor, int(k))
        if self.mode != "generative":
            self.learner = take_learner(learner, self.start, average, native)
            if self.sparse == "auto":
                self.sparse = "no" if isinstance(self.learner, ListLearner) else "yes"
            if isinstance(self.learner, RuleLearner):
                self.how = fit_to_rule(self.learner, self.how)
                if start is None:
                    scale = SPREAD_LOSS if self.how.driven else SPREAD_LOSS * WHOLE_STEPS
                    self.start = {name: scale * weight for name, weight in self.start.items()}

    @property
    def params(self) -> dict[str, Any]:
        own = {"mode": self.mode, **self.how_options, "sparse": self.sparse}
        return {**own, "quality": self.quality, **({} if self.learner is None else {"learner": describe(self.learner)})}

    @property
    def how_options(self) -> dict[str, Any]:
        return {"target": self.how.target, "competitor": self.how.competitor, "k": self.how.k}

    @property
    def weights(self) -> dict[Any, float]:
        """The learned weights that are not zero, by feature, the largest first; those that are fixed are `start`."""
        rule = self.learner
        nothing = rule is None or (isinstance(rule, RuleLearner) and rule.model.arrays is None)
        return {} if rule is None or nothing else rule.weights

    @property
    def models(self) -> Models:
        return Models(self.lexicon, self.inverse, self.language, self.cache)

    # ---- features ----------------------------------------------------------------------------------------------------

    def describe(self, one: CandidateList, number: int = 0) -> Described:
        """The features of every candidate: those with first weights, and those whose weights are learned."""
        rows = [dict(row) for row in one.rows]
        if one.texts is None:
            if self.mode == "discriminative":
                return Described(rows, rows)
            raise BadValue(f'row {number}: mode="{self.mode}" needs candidates with texts: give a dict with source and '
                           "candidates", number)  # fmt: skip
        size = self.spread.with_list(rows).mean
        for row in rows:
            row["score"] /= size
        source, candidates = words_of(one)
        if self.mode != "discriminative":
            for row, found in zip(rows, generative_features(self.models, source, candidates), strict=True):
                row.update(found)
        if self.learner is None or self.sparse == "no":
            return Described(rows, rows)
        sparse = sparse_features(self.models, source, candidates)
        if isinstance(self.learner, ListLearner):  # which has the first weights
            return Described(rows, [{**row, **found} for row, found in zip(rows, sparse, strict=True)])
        return Described(rows, sparse)

    def offsets(self, rows: Rows) -> Floats:
        """The scores by the first weights."""
        with np.errstate(all="ignore"):
            return np.array([sum(w * row[name] for name, w in self.start.items() if name in row) for row in rows])

    def choose(self, found: Described, offsets: Floats, number: int) -> int:
        """The place of the best candidate by the first weights and those of a rule."""
        scores = offsets
        if isinstance(self.learner, RuleLearner):
            scores = offsets + rule_scores(self.learner, found.learned)
        if not np.isfinite(scores).all():
            raise self.too_large(number)
        return int(np.argmax(scores))

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def predict_list(self, one: CandidateList, number: int) -> int:
        found = self.describe(one, number)
        if isinstance(self.learner, ListLearner):
            return self.learner.predict_list(CandidateList(tuple(found.learned)), number)
        return self.choose(found, self.offsets(found.rows), number)

    def play_whole(self, rounds: ListRounds, tell: Tell) -> Transcript:
        """Models are undone by logs or copies of their counts, the learner of the weights by its own means."""
        size = len(rounds.lists)
        logs = [UndoLog(keep=size <= FEW) for _ in self.models]
        models: tuple[TextLearner[Any], ...] = self.models

        def save() -> Undo:
            undos = [model.savepoint(log) for model, log in zip(models, logs, strict=True)]
            if isinstance(self.learner, ListLearner):
                undos.append(self.learner.savepoint())
            undos.append(self._own_state())
            return lambda: [undo() for undo in undos]

        def act() -> Transcript:
            for model, log in zip(models, logs, strict=True):
                model.begin(log)
            if isinstance(self.learner, ListLearner):
                self.learner.begin()
            found = [self.play_list(rounds, t, logs) for t in range(size)]
            return tell(np.array([one[0] for one in found], np.int64), np.array([one[1] for one in found], bool))

        inside = [self.learner] if isinstance(self.learner, RuleLearner) else []
        return run_whole(self._change, lambda: inside, save, act, size > 1)

    def play_list(self, rounds: ListRounds, t: int, logs: list[UndoLog]) -> tuple[int, bool]:
        """Predict and learn one list; the place predicted, and whether anything changed."""
        one, losses = rounds.lists[t], rounds.losses[t]
        found = self.describe(one, t)
        if one.texts is not None:
            self.spread = self.spread.with_list(one.rows)
        if isinstance(self.learner, ListLearner):
            place, stepped = self.learner.absorb(found.learned, losses, t)
        else:
            offsets = self.offsets(found.rows)
            place, stepped = self.choose(found, offsets, t), False
            if self.learner is not None and losses.any():
                try:
                    stepped = learn_by_rule(self.learner, found.learned, offsets, losses, self.how)
                except BadValue as error:
                    text = str(error).removeprefix(f"row {error.row}, ").removeprefix(f"row {error.row}: ")
                    raise BadValue(f"row {t}: {text}", t) from None
        reference = find_reference(one, rounds.truths[t], losses)
        if reference:
            source = split_words(one.source)
            if source:
                self.lexicon.absorb((source, reference), logs[0])
                self.inverse.absorb((reference, source), logs[1])
            self.language.absorb(reference, logs[2])
            self.cache.absorb(reference, logs[3])
        return place, stepped or bool(reference)

    # ---- merging and model files -------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A new learner of both: the counts of the models add, and the weights merge by the law of their learner."""
        if not isinstance(other, AdaptiveReranker) or (other.mode, other.start) != (self.mode, self.start):
            raise BadValue(f"only rerankers of one mode with the same first weights can be merged, not {self!r} and "
                           f"{other!r}")  # fmt: skip
        new = self.copy()
        for name in MODELS:
            setattr(new, name, getattr(self, name).merge(getattr(other, name)))
        new.spread = Spread(self.spread.total + other.spread.total, self.spread.lists + other.spread.lists)
        learner: Any = self.learner
        if learner is not None:
            new.learner = learner.merge(other.learner)
        new.rounds, new.mistakes = self.rounds + other.rounds, self.mistakes + other.mistakes
        new.updates = self.updates + other.updates
        return new

    def dump(self) -> tuple[Header, Arrays]:
        """The options, the models and the learner of the weights."""
        with self._lock:
            self._change.settle()
            header: Header = {"mode": self.mode, "sparse": self.sparse, "quality": self.quality}
            header["spread"] = list(self.spread)
            header |= {**self.how_options, "start": dict(self.start), **self.dump_counts()}
            arrays: Arrays = {}
            for name in (*MODELS, "learner"):
                if (part := getattr(self, name)) is not None:
                    header[name], parts = dump_part(name, part)
                    arrays |= parts
            return header, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """All parts, checked."""
        parts = {name: restore_part(name, header.get(name), arrays, find_card) for name in MODELS}
        if not isinstance(header.get("start"), dict):
            raise corrupt("start must be weights by name")
        mode = header.get("mode")
        learner = None if mode == "generative" else restore_part("learner", header.get("learner"), arrays, find_card)
        given = {name: header[name] for name in ("mode", "sparse", "quality", "target", "competitor", "start")}
        try:
            new = cls(**given, k=read_param(header, "k", K), learner=learner, **parts)
        except BadValue as error:
            raise corrupt(str(error).removeprefix("corrupt model file: ")) from None
        if new.learner is not learner:
            raise corrupt("the learner inside does not fit reranking")
        new.restore_counts(header)
        new.spread = read_spread(header)
        return new


MODELS = Models._fields


def find_reference(one: CandidateList, truth: Any, losses: Floats) -> Words:
    """The words of the validated output: the reference or, where there is none, the best candidate."""
    reference = truth if isinstance(truth, str) else one.reference
    if reference is not None:
        return split_words(reference)
    return split_words(one.texts[int(np.argmin(losses))]) if one.texts is not None else ()
