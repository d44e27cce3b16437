"""A rule of your own: this file is all it needs."""

import noregret as nr
from noregret.algebra import add, sqnorm


@nr.margin_rule(paper="mine", params={"C": nr.Param(0.7, above=0.0, about="cap")}, state={"w": nr.plain})
def capped(p, s, z, margin):
    """Half a PA step, capped."""
    if margin < 1.0:
        add(s.w, min(p.C, 0.5 * (1.0 - margin) / sqnorm(z)), z)
        return True
    return False
