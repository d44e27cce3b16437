"""One epoch over dense images, ten classes: multiclass PA-I compared with ten one-vs-rest classifiers."""

import noregret
from benchmarks.epoch import quietly, sgd
from benchmarks.measure import Act, Row, best, in_turn
from benchmarks.stream import Text, images

TITLE = "One epoch in memory, dense (60 000 x 784, 19 % non-zero, 10 classes)"
PEER = "scikit-learn SGDClassifier pa1, one against rest: ten passes"


def peer() -> Act:
    data = images()
    model = sgd()
    return lambda: quietly(model, Text(data.X, data.y))


def ours() -> Act:
    data = images()
    learner = noregret.make("pa1", task="multiclass")
    return lambda: learner.learn(data.X, data.y)


def run() -> list[Row]:
    data = images()
    noregret.make("pa1", task="multiclass").learn(data.X[:100], data.y[:100])
    times = in_turn({PEER: peer, "pa1": ours}, repeats=5)
    return [
        Row(
            work="pa1, multiclass task",
            ours=f"{best(times, 'pa1'):.3f} s",
            peer=f"{PEER} {best(times, PEER):.3f} s",
            figure=best(times, PEER) / best(times, "pa1"),
            unit="x",
            at_least=5.0,
            seconds=times,
        )
    ]
