"""Concepts in words: drugs OR credit OR NOT meeting."""

from collections.abc import Sequence

from noregret.concepts.boolean import Feature, Threshold

MOST = 20  # literals that are named


def name_literal(feature: Feature, negated: bool = False) -> str:
    """A feature, or its negation; a column as [3]."""
    name = feature if isinstance(feature, str) else f"[{feature}]"
    return f"NOT {name}" if negated else name


def join_literals(literals: Sequence[str], conjunction: bool, most: int = MOST) -> str:
    """Literals joined by AND or OR; of many only the first, with their number."""
    if not literals:
        return "always true" if conjunction else "always false"
    between = " AND " if conjunction else " OR "
    if len(literals) <= most:
        return between.join(literals)
    return f"{between.join(literals[:most])}{between}... ({len(literals):,} literals)"


def describe(concept: Threshold) -> str:
    """A threshold function in words: a conjunction, a disjunction, m of n, or the sum that it compares."""
    weights = {feature: weight for feature, weight in concept.weights.items() if weight}
    if any(abs(weight) != 1 for weight in weights.values()) or not float(concept.theta).is_integer():
        return str(concept)
    literals = [name_literal(feature, weight < 0) for feature, weight in weights.items()]
    needed = int(concept.theta) + sum(1 for weight in weights.values() if weight < 0)
    if needed <= 0:
        return "always true"
    if needed > len(literals):
        return "always false"
    if needed == len(literals):
        return join_literals(literals, True)
    if needed == 1:
        return join_literals(literals, False)
    return f"at least {needed} of {', '.join(literals)}"
