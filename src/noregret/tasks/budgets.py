"""Budgets of kernel learners: after every step that leaves too many supports, a policy names one that is removed.

The support that came last stays. The names bound by specialization are declared here, as in `hooks`.
"""

from collections.abc import Callable
from typing import Any

from noregret.algebra.internal_verbs import bank_of_vector, drop_coefficients, drop_row, weigh_support
from noregret.algebra.partial_features import PRIME, next_random
from noregret.algebra.support_verbs import newest_support, oldest_support
from noregret.algebra.verbs import unbound
from noregret.tasks.hooks import take_steps

update = choose = drop_rest = remove_excess = unbound
place: Any = unbound


def choose_oldest(s: Any, bank: Any) -> Any:
    return oldest_support(bank)


def choose_smallest(s: Any, bank: Any) -> Any:
    """The support with the smallest sum of |coefficients|; of equals, the oldest."""
    last = newest_support(bank)
    found = -1
    least = 0.0
    for i in range(bank.n[0]):
        if i != last:
            total = weigh_support(s.w, i)
            if found < 0 or total < least or (total == least and bank.born[i] < bank.born[found]):
                found, least = i, total
    return found


def choose_random(s: Any, bank: Any) -> Any:
    """A support by chance, each with the same probability."""
    s.n.budget_random = next_random(s.n.budget_random)
    others = bank.n[0] - 1
    found = min(int(s.n.budget_random / PRIME * others), others - 1)
    return others if found == newest_support(bank) else found


POLICIES = {"oldest": choose_oldest, "smallest": choose_smallest, "random": choose_random}


def drop_one(s: Any, i: Any) -> None:
    drop_coefficients(s[place], i)


def drop_several(s: Any, i: Any) -> None:
    drop_coefficients(s[place], i)
    drop_rest(s, i)


def keep_budget(s: Any) -> None:
    """Remove supports until the budget is kept."""
    bank = bank_of_vector(s.w)
    while bank.n[0] > bank.n[4]:
        i = choose(s, bank)
        drop_rest(s, i)
        drop_row(bank, i)


def update_within_budget(p: Any, s: Any, z: Any, margin: Any, h: Any) -> Any:
    changed = update(p, s, z, margin, h)
    remove_excess(s)
    return changed


def steps_within_budget(s: Any, x: Any, steps: Any, stride: Any) -> Any:
    take_steps(s, x, steps, stride)
    remove_excess(s)


def bind_policy(policy: str, vectors: int, text: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """A function that removes supports of a state with so many vectors until its budget is kept."""
    drop = text(drop_one, place=vectors - 1)
    for number in reversed(range(vectors - 1)):
        drop = text(drop_several, f"drop_{number}", place=number, drop_rest=drop)
    return text(keep_budget, choose=text(POLICIES[policy]), drop_rest=drop)
