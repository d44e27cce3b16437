"""Every learner beside PA-I on the same sparse rows: its time per non-zero, and its time per round as d grows."""

import dis
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType

import numpy as np
from scipy.sparse import csr_array

import noregret
from benchmarks.measure import Act, Prepare, Row, best, in_turn
from benchmarks.stream import NONZEROS, Text, distinct_ranks, text
from noregret.rules.rule_card import RuleCard

TITLE = "Every learner compared with PA-I: time per non-zero, and how it grows from 10^5 to 10^7 features"
NOTE = """Why targets are missed: `ftrl` needs a square root and a division for every weight it reads, and two of each
for every weight it changes. `fobos_infinity` reads all weights in every round. If p is neither an integer nor a
half-integer, the p-norm learners compute a power for every weight they read and two for every weight they change, by
calls of the C library. The speed of exponentials and powers differs by up to a half between a loop that was compiled
in the process and one loaded from the cache, because they come from different libraries."""
SMALL, LARGE = 10**5, 10**7
TOUCHED, PLAYED = 2_000, 20_000  # few enough features that the cache holds them at any d
EPOCH = 50_000
EVERYWHERE = "not asked as d grows: a step may touch every weight, so a call copies them all first"
PEER = "pa1"
REPEATS = 5
POWERS = {"winnow_duplicated", "eg", "eg_signed", "p_norm", "alma", "mirror_descent"}  # whichever way they are written
TRANSCENDENTAL = {"pow", "exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh", "arcsinh", "asinh"}


def texts(function: Callable[..., object], seen: set[CodeType]) -> Iterator[CodeType]:
    """The code of a plain function and of the plain functions it names."""
    code = getattr(function, "__code__", None)
    if code is None or code in seen:
        return
    seen.add(code)
    yield code
    for name in code.co_names:
        named = function.__globals__.get(name)
        if isinstance(named, FunctionType):
            yield from texts(named, seen)


def needs_powers(card: RuleCard) -> bool:
    """Whether a round raises something to a power for each coordinate: by the verb multiply, or in its weights."""
    if card.name in POWERS or any(verb.name == "multiply" for verb in card.verbs):
        return True
    if card.weight is None:
        return False
    return any(
        TRANSCENDENTAL & set(code.co_names) or any(step.argrepr.startswith("**") for step in dis.get_instructions(code))
        for code in texts(card.weight, set())
    )


def keeps_a_heap(card: RuleCard) -> bool:
    """Whether a round asks for the largest weights; such learners are named for it."""
    return card.name.startswith("ofs") or card.name.endswith("truncated")


def wanted(card: RuleCard) -> tuple[float, str]:
    """The ratio to PA-I that a learner of its kind may have."""
    kinds = (
        (15.0, "an indexed heap", keeps_a_heap(card)),
        (8.0, "powers", needs_powers(card)),
        (4.0, "diagonal second order", card.keeps_covariance),
        (3.0, "first order", True),
    )
    return next((ratio, kind) for ratio, kind, holds in kinds if holds)


def why_not(card: RuleCard) -> str | None:
    """Why a learner cannot play here, or None if it can."""
    if "binary" not in card.tasks:
        return f"skipped: it plays {', '.join(card.tasks)}, not binary"
    reason = card.why_not("sparse")
    return None if reason is None else f"skipped: {reason}"


@cache
def spread(d: int) -> Text:
    """Unit rows over the same features, which lie d / TOUCHED apart; a tenth of them decides, 5 % noise."""
    rng = np.random.default_rng(5)
    ranks = distinct_ranks(rng, PLAYED, TOUCHED, NONZEROS)
    values = rng.uniform(0.5, 1.5, size=ranks.shape)
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    truth = np.where(rng.random(TOUCHED) < 0.1, rng.standard_normal(TOUCHED), 0.0)
    scores = (truth[ranks] * values).sum(axis=1)
    y = np.where(scores > np.median(scores), 1, -1)
    y[rng.random(PLAYED) < 0.05] *= -1
    # Which rank lies where is drawn, and the last feature is touched too: every state has all d features.
    places = rng.permutation(np.linspace(0, d - 1, TOUCHED).astype(np.int32))[ranks]
    order = np.argsort(places, axis=1)
    places, values = np.take_along_axis(places, order, axis=1), np.take_along_axis(values, order, axis=1)
    starts = np.arange(0, PLAYED * NONZEROS + 1, NONZEROS, dtype=np.int32)
    return Text(csr_array((values.ravel(), places.ravel(), starts), shape=(PLAYED, d)), y.astype(np.int64))


def head(data: Text, rows: int) -> Text:
    return Text(data.X[:rows], data.y[:rows])


def learner_of(name: str) -> noregret.Learner:
    return noregret.make(name, algebra="sparse", task="binary")


def fresh(name: str, data: Text) -> Prepare:
    """One epoch of a learner that knows nothing."""

    def prepare() -> Act:
        learner = learner_of(name)
        return lambda: learner.learn(data.X, data.y)

    return prepare


def again(name: str, data: Text) -> Prepare:
    """One more epoch of a learner whose state is there already: making d cells is no part of a round."""
    learner = learner_of(name).learn(data.X, data.y)
    return lambda: lambda: learner.learn(data.X, data.y)


def beside_pa1(card: RuleCard, data: Text) -> Row:
    """Nanoseconds per non-zero."""
    ratio, kind = wanted(card)
    trial = learner_of(card.name).learn(data.X[:100], data.y[:100])  # compiles before the clock starts
    tries = in_turn({card.name: lambda: lambda: trial.learn(data.X[100:200], data.y[100:200])}, repeats=REPEATS)
    if best(tries, card.name) > 0.01:  # it looks at all weights: a few rounds tell enough
        data = head(data, 500)
    times = in_turn({PEER: fresh(PEER, data), card.name: fresh(card.name, data)}, repeats=REPEATS)
    mine, other = best(times, card.name) / data.X.nnz * 1e9, best(times, PEER) / data.X.nnz * 1e9
    return Row(
        work=f"{card.name}: {kind}",
        ours=f"{mine:.2f} ns per non-zero",
        peer=f"our {PEER} {other:.2f} ns",
        figure=mine / other,
        unit="x",
        at_most=ratio,
        seconds=times,
    )


def as_d_grows(card: RuleCard) -> Row:
    """How much the ratio to PA-I grows from d = 10^5 to d = 10^7."""
    contestants = {f"{name} {d}": again(name, spread(d)) for d in (SMALL, LARGE) for name in (PEER, card.name)}
    times = in_turn(contestants, repeats=2 * REPEATS)

    def took(name: str, d: int) -> float:
        return best(times, f"{name} {d}") / PLAYED

    def told(name: str) -> str:
        return f"{took(name, LARGE) * 1e6:.2f} us a round over {took(name, SMALL) * 1e6:.2f} us"

    ratios = {d: took(card.name, d) / took(PEER, d) for d in (SMALL, LARGE)}
    return Row(
        work=f"{card.name}: d = 10^7 over 10^5, the same {TOUCHED} features spread over d",
        ours=told(card.name),
        peer=f"our {PEER} {told(PEER)}",
        figure=ratios[LARGE] / ratios[SMALL],
        unit="x",
        at_most=1.5,
        seconds=times,
    )


def run() -> list[Row]:
    cards = [card for card in noregret.learners().rules.values() if card.built_in]
    reasons = {card.name: why_not(card) for card in cards}
    players = [card for card in cards if reasons[card.name] is None]
    skipped = [Row(name, reason, "", None, "x") for name, reason in reasons.items() if reason]
    data = head(text(), EPOCH)
    learner_of(PEER).learn(data.X[:100], data.y[:100])
    table = [beside_pa1(card, data) for card in players if card.name != PEER]
    by_row = [card for card in players if card.touches(tuple(card.defaults.items())) != "all"]
    sweeping = [Row(card.name, EVERYWHERE, "", None, "x") for card in players if card not in by_row]
    return [*table, *skipped, *(as_d_grows(card) for card in by_row if card.name != PEER), *sweeping]
