"""Rules as a user writes them in a file of their own, right ones and wrong ones. Loaded by `load_own_rules`."""

import noregret as nr
from noregret.algebra import add, dot, sqnorm
from noregret.rules.rule_card import G, P, S, X, Z

MINE = "a rule of my own"


@nr.margin_rule(paper=MINE, state={"w": nr.plain}, params={"C": nr.Param(0.7, above=0.0)}, weight_param="C")
def halfway(p: P, s: S, z: Z, margin: float) -> bool:
    """Half a passive-aggressive step, capped."""
    if margin < 1.0:
        add(s.w, min(p.C, 0.5 * (1.0 - margin) / sqnorm(z)), z)
        return True
    return False


@nr.gradient_rule(paper=MINE, state={"w": nr.plain}, params={"eta": nr.Param(0.25, above=0.0)})
def steady(p: P, s: S, g: G) -> None:
    """A gradient step of constant length."""
    add(s.w, -p.eta, g)


@nr.margin_rule(paper=MINE, state={"w": nr.plain})
def summing(p: P, s: S, z: Z, margin: float) -> bool:
    """Adds every example, whatever its margin: the weights do not depend on the order of the rounds."""
    add(s.w, 1.0, z)
    return True


@nr.margin_rule(paper=MINE, state={"w": nr.plain})
def impatient(p: P, s: S, z: Z, margin: float) -> bool:
    """Raises in its fifth round."""
    if s.n.t >= 5.0:
        raise ValueError("enough")
    add(s.w, 1.0, z)
    return True


def shy_score(p: P, s: S, x: X) -> float:
    if s.n.t >= 5.0:
        raise ValueError("no more scores")
    return float(dot(s.w, x))


@nr.margin_rule(paper=MINE, state={"w": nr.plain}, final=shy_score)
def shy(p: P, s: S, z: Z, margin: float) -> bool:
    """Predicts, and so plays, only for five rounds."""
    add(s.w, 1.0, z)
    return True


@nr.margin_rule(paper=MINE, state={"w": nr.plain})
def reader(p: P, s: S, z: Z, margin: float) -> bool:
    """Does what compiled code cannot."""
    with open("/dev/null") as nothing:
        nothing.read()
    add(s.w, 1.0, z)
    return True


@nr.margin_rule(paper=MINE, state={"w": nr.plain})
def forgetful(p: P, s: S, z: Z, margin: float) -> bool:
    """Names a parameter it never declared."""
    add(s.w, p.C, z)
    return True
