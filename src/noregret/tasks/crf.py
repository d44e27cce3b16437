"""Structured output by its likelihood: a CRF. The loss of a round is -log p(truth), over all outputs at once.

An output has a probability proportional to exp(its score). The negative gradient is what was observed minus what was
expected, z = Phi(x, truth) - sum over outputs y of p(y) Phi(x, y), where a decoder gives the expected counts of parts.
"""

from typing import Any

from noregret.algebra.internal_verbs import collect
from noregret.algebra.verbs import unbound
from noregret.tasks.decoders.layout import AFTER, KNOWN, LOSS, ROWS, TRUTH
from noregret.tasks.task import Floats, G, P, R, S

update = tally = expect = suffered = unbound
final_differs: Any = unbound  # whether predictions use other weights than training does


def minus_log_p(f: Floats, y: Floats, work: Floats, first: int) -> Any:
    """-log p of the right output; the counts at the beginning of work are then those observed minus those expected.

    Without a right output there is no loss; the scores become the marginals of the parts, where these are asked for.
    """
    size, width = int(y[first, ROWS]), f.shape[1]
    counts, rest = work[: size * width], work[size * width :]
    for k in range(size * width):
        counts[k] = 0.0
    if y[first, TRUTH] >= 0.0:
        tally(y, counts, first, TRUTH, 1.0)
        own = 0.0
        for i in range(size):
            for c in range(width):
                if counts[i * width + c] != 0.0:
                    own += counts[i * width + c] * f[first + i, c]
        return max(expect(f, y, rest, counts, first, int(y[first, AFTER])) - own, 0.0)
    if y[first, LOSS] > 0.0:
        expect(f, y, rest, counts, first, int(y[first, KNOWN]))
        for i in range(size):
            for c in range(width):
                f[first + i, c] = -counts[i * width + c]
    return 0.0


def learn_likelihood(p: P, g: G, s: S, X: R, y: Floats, h: float, f: Floats, work: Floats, first: int) -> Any:
    """One step along what was observed minus what was expected."""
    size, width = int(y[first, ROWS]), f.shape[1]
    if final_differs:  # the expectations are those of other weights
        suffered(f, y, work, first)
    z = collect(X, work[: size * width], first, size, g.places, g.sums, g.values)
    return update(p, s, z, 0.0, h)
