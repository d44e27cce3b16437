"""The incremental kernel perceptron: every new row is followed by passes over all rows so far.

`nr.epochs` plays any learner over the same rows again; here the rows are kept, so that it can also be played one round
at a time.
"""

import math

from noregret.algebra import append, coefficient, fill_kernel_row, kernel_row, set_coefficient, supports
from noregret.learners.perceptron import SEPARABLE
from noregret.rules.decorators import margin_rule
from noregret.rules.merge_law import Merge
from noregret.rules.parameters import Param
from noregret.rules.rule_card import P, S, Z
from noregret.state.fields import counts, plain

AIZERMAN_1964 = (
    "Aizerman, Braverman and Rozonoer, Theoretical foundations of the potential function method in pattern recognition "
    "learning, Automation and Remote Control 25, 1964"
)


def count_if_wrong(s: S, i: int) -> bool:
    """Count row i once more in the expansion, unless its margin is positive; the margins of all rows follow."""
    if coefficient(s.F, i) > 0.0:
        return False
    y = coefficient(s.y, i)
    set_coefficient(s.w, i, coefficient(s.w, i) + y)
    fill_kernel_row(s.w, i)
    for j in range(supports(s.w)):
        set_coefficient(s.F, j, coefficient(s.F, j) + y * coefficient(s.y, j) * kernel_row(s.w, j))
    return True


@margin_rule(
    paper=AIZERMAN_1964,
    params={
        "sweeps": Param(
            1.0,
            at_least=0.0,
            at_most=1000.0,
            about="how many passes over all rows so far follow a new row, rounded down; fewer where one is without an "
            "update",
            grid=(0.0, 1.0, 3.0, 10.0),
        )
    },
    state={"w": plain, "y": plain, "F": counts},
    weight_param="",  # a row counts as often as it is misclassified
    guarantees=(SEPARABLE,),
    merge=Merge("none", "the cached margins of the rows are those of one run"),
    title="IncrementalKernelPerceptron",
    tasks=("binary",),
)
def perceptron_kernel_incremental(p: P, s: S, z: Z, margin: float) -> bool:
    """Kernel perceptron that keeps all rows and passes over them again after each new one.

    w has the number of updates of each row, with the sign of its label; y the labels, and F the margins of all rows.
    """
    append(s.y, 1.0, z)
    last = supports(s.y) - 1
    set_coefficient(s.F, last, margin)
    updated = count_if_wrong(s, last)
    for _ in range(math.floor(p.sweeps)):
        again = False
        for i in range(last + 1):
            again = count_if_wrong(s, i) or again
        updated = updated or again
        if not again:
            break
    return updated
