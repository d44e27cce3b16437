"""The loop over rounds, written once for all networks: predict, suffer, learn, and learn again from memory."""

from typing import Any

from noregret.neural.backprop import backward, forward, judge_head, learn_round, mix_heads, weigh_heads
from noregret.neural.inputs import learn_target, read_given, read_remembered, remember, target_deviation
from noregret.neural.net import (
    FAULT,
    HEADS,
    LARGEST,
    LEARNS,
    LEVELS,
    OUTPUTS,
    REGRESSION,
    REMEMBERED,
    REPLAYS,
    ROUNDS,
    SCALES_TARGET,
    TARGET_MEAN,
    TASK,
    Floats,
)


def write_scores(net: Any, n: Floats, deviation: float, scores: Floats, t: Any) -> None:
    """The prediction as a transcript tells it."""
    k = net.options[OUTPUTS]
    for c in range(k):
        scores[t * k + c] = net.mixed[c]
    if net.options[TASK] == REGRESSION:
        scores[t] = n[TARGET_MEAN] + deviation * net.mixed[0]


def train_on(s: Any, net: Any, hedge: Any, y: float, h: float) -> bool:
    """The gradients for a truth, after its row was scored; False where they overflow."""
    for level in range(net.options[LEVELS] + 1):
        if net.heads[level] == 1:
            hedge.losses[level] = judge_head(net, level, y, h * hedge.weights[level])
    return backward(s, net)


def count_turns(net: Any, n: Floats, h: float) -> Any:
    """How many rows a round learns: its own, and those that it replays."""
    return 1 + net.options[REPLAYS] if h > 0.0 and n[REMEMBERED] > 0.0 else 1


def play_rounds(p: Any, s: Any, net: Any, hedge: Any, rows: Any, rounds: Any) -> None:
    """Predict, then learn, every round; stop at one whose sums or gradients overflow, and tell its number.

    A round of weight 0 is only predicted. The text of a round stands here once, for its own row and for those that it
    replays, since it is compiled where it stands.
    """
    n, learns = hedge.counters, net.options[LEARNS] == 1
    regression = net.options[TASK] == REGRESSION
    for t in range(rounds.y.size):
        n[FAULT] = t + 1.0
        own, turns = True, count_turns(net, n, rounds.h[t])
        for turn in range(turns):
            own = turn == 0
            y, h, deviation = rounds.y[t], rounds.h[t], target_deviation(net, n)
            if own:
                if abs(y) > LARGEST or not read_given(net, rows, t, n, learns):
                    return
            else:
                place = read_remembered(net, rows, n)
                y, h = rows.memory.y[place], rows.memory.h[place]
            if not forward(s, net):
                return
            if own:
                mix_heads(net, hedge)
                write_scores(net, n, deviation, rounds.scores, t)
                rounds.deviations[t] = deviation
                n[ROUNDS] += 1.0 if learns else 0.0
            if h > 0.0 and deviation > 0.0:
                if not train_on(s, net, hedge, (y - n[TARGET_MEAN]) / deviation if regression else y, h):
                    return
                learn_round(p, s, net, hedge)
                rounds.updated[t] = 1
            if own and h > 0.0:
                if net.options[HEADS] > 1:
                    weigh_heads(net, hedge)
                if net.options[SCALES_TARGET] == 1:
                    learn_target(n, y, h)
        if rounds.h[t] > 0.0 and net.options[REPLAYS] > 0:
            remember(net, rows, rounds, t, n)
    n[FAULT] = 0.0
