"""A certificate in words, and as plain values."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from noregret.evaluation.invariants import Invariants
from noregret.evaluation.mistake_bounds import MistakeBound
from noregret.evaluation.report import count_of, plain_label
from noregret.evaluation.tables import table

if TYPE_CHECKING:
    from noregret.evaluation.certify import Attempt, Certificate

FEW = 5  # rows of a combination that are named
SHOWN = 20  # updates at the beginning and at the end that are printed
MOST_BITS = 12_000  # of the denominator of a fraction that is written down
MOST = 1e15  # bounds from here on are shown by their magnitude only


def describe(certificate: "Certificate") -> str:
    """The certificate for people."""
    one = certificate
    size = f"{count_of(one.rows, 'row')}, {count_of(one.features, 'feature')}, {len(one.labels)} classes"
    lines = [f"{one.name}: {size}; the longest {example_name(len(one.labels))} has R = {one.radius:.6g}", ""]
    lines += describe_separability(one)
    if one.hinge is not None:
        lines += describe_hinge(one)
    if one.attempts:
        lines += ["", describe_attempts(one.attempts)]
    if one.learners:
        lines += ["", describe_learners(one.learners, one.rows)]
    if one.invariants is not None:
        lines += ["", describe_invariants(one.invariants)]
    return "\n".join(lines)


def example_name(classes: int) -> str:
    return "row" if classes == 2 else "signed example"


def describe_separability(certificate: "Certificate") -> list[str]:
    """Whether the rows are separable, and what was checked to know it."""
    found, radius, classes = certificate.separability, certificate.radius, len(certificate.labels)
    product = "y u.x" if classes == 2 else "(u_y - u_r).x"
    rows = count_of(len(found.rows), "signed row")
    if len(found.rows) <= FEW:
        numbers = dict.fromkeys(row // (classes - 1) + 1 for row in found.rows.tolist())
        rows += f" ({', '.join(map(str, sorted(numbers)))})"
    if found.separable:
        sure = "exactly where rounding left the sign open" if found.exact else "with a bound on rounding"
        return [
            f"separable: yes, with margin gamma = {found.margin:.6g}; (R / gamma)^2 = "
            f"{(radius / found.margin) ** 2:,.6g}",
            f"  checked: the unit vector u has {product} >= gamma on every row ({sure})",
            f"  no unit vector has a margin above {found.margin_limit:.10g}: a convex combination of {rows} is that "
            f"short; gap {found.gap:.1e}",
        ]
    if found.separable is False and found.margin_limit == 0.0:
        return [
            f"separable: no. {rows} with positive weights sum to exactly 0 (Farkas certificate, checked with rational "
            "numbers),",
            f"  so that {product} > 0 cannot hold for all of them",
        ]
    if found.enclosed:
        return [
            f"separable: no. {rows} with positive weights sum to exactly 0 (Farkas certificate; weights enclosed in "
            "intervals, with bounds on rounding),",
            f"  so that {product} > 0 cannot hold for all of them",
        ]
    if found.separable is False:
        return [
            f"separable: no, up to rounding. A convex combination of {rows} has the length {found.margin_limit:.2g} "
            "(computed exactly),",
            f"  so that no unit vector has a margin above it; R = {radius:.6g}",
        ]
    return [
        f"separable: not decided. No unit vector has a margin above {found.margin_limit:.3g}, and no separator was "
        "found;",
        "  rows of very different lengths can cause this: try the transform unit_norm",
    ]


def describe_hinge(certificate: "Certificate") -> list[str]:
    hinge = certificate.hinge
    assert hinge is not None
    share = 100.0 * hinge.wrong / certificate.rows
    return [
        f"smallest hinge sum: {hinge.total:.6g}, by a u that gets {count_of(hinge.wrong, 'row')} wrong "
        f"({share:.2f} %); {hinge.short:,} have a margin below 1",
        f"  no u with |u| <= {hinge.norm_limit:.4g} has a sum below {hinge.limit:.6g} (dual weights); "
        f"gap {hinge.gap:.1e}",
    ]


def describe_attempts(attempts: Sequence["Attempt"]) -> str:
    """What other features change."""
    rows, notes = [], []
    for one in attempts:
        if one.why_not is not None:
            notes.append(f"{one.title}: not tried: {one.why_not}")
            continue
        answer = {True: "yes", False: "no", None: "not decided"}[one.separable]
        margin = f"{one.margin:.4g}" if one.separable else ""
        rows.append((one.title, f"{one.features:,}", answer, margin, "" if one.hinge is None else f"{one.hinge:.6g}"))
    head = ("with other features", "features", "separable", "margin", "hinge sum")
    return "\n".join([*([table(head, rows)] if rows else []), *notes])


def describe_learners(learners: Sequence[MistakeBound], rounds: int) -> str:
    """The bound of every learner beside what it did, and why some have none."""
    rows, reasons = [], dict[str, list[str]]()
    for one in learners:
        rows.append((one.learner, format_bound(one), one.bounds or "", format_count(one), f"{one.mistakes:,}"))
        if one.why_not is not None:
            reasons.setdefault(f"no bound, since {one.why_not}", []).append(one.learner)
        elif one.assumes is not None:
            reasons.setdefault(f"the bound holds if {one.assumes}, which is not checked", []).append(one.learner)
    lines = [table(("learner", "at most", "of", "made", "mistakes"), rows)]
    if any(one.at_most is not None and one.at_most >= rounds for one in learners):
        lines.append(f"a bound of {rounds:,} or more says nothing about {rounds:,} rounds")
    return "\n".join([*lines, *(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())])


def format_bound(bound: MistakeBound) -> str:
    """The largest whole number within a bound."""
    if bound.at_most is None:
        return "-"
    return f"{bound.at_most:.3g}" if bound.at_most >= MOST else f"{math.floor(bound.at_most * (1.0 + 1e-12)):,}"


def format_count(bound: MistakeBound) -> str:
    return "" if bound.observed is None else f"{int(bound.observed):,}"


def describe_invariants(invariants: Invariants) -> str:
    """The updates of the perceptron, with what they add."""
    count = len(invariants.rounds)
    holds = "hold on all of them" if invariants.hold else "DO NOT HOLD: please report this"
    gamma, square = invariants.gamma, invariants.radius**2
    lines = [
        f"perceptron: {count_of(count, 'update')}; each adds at least gamma = {gamma:.6g} to u.w and at most R^2 = "
        f"{square:.6g} to |w|^2: both {holds}"
    ]
    some = range(count) if count <= 2 * SHOWN else [*range(SHOWN), *range(count - SHOWN, count)]
    rows = []
    for k in some:
        cells = [invariants.margins[k], invariants.projections[k], invariants.projection_growth[k]]
        cells += [invariants.squares[k], invariants.square_growth[k]]
        rows.append((f"{k + 1:,}", f"{invariants.rounds[k]:,}", *(f"{cell:.4g}" for cell in cells)))
    if count > 2 * SHOWN:
        rows.insert(SHOWN, ("...", *[""] * 6))
    return "\n".join([*lines, table(("update", "round", "y w.x", "u.w", "grows by", "|w|^2", "grows by"), rows)])


# ---- for programs ----------------------------------------------------------------------------------------------------


def report_certificate(certificate: "Certificate") -> dict[str, Any]:
    """The certificate as plain values."""
    one, found, hinge = certificate, certificate.separability, certificate.hinge
    report: dict[str, Any] = {
        "rows": one.rows,
        "features": one.features,
        "labels": [plain_label(label) for label in one.labels],
        "radius": one.radius,
        "separable": found.separable,
        "exact": found.exact,
        "enclosed": found.enclosed,
        "margin": found.margin,
        "margin_limit": found.margin_limit,
        "combination": report_combination(certificate),
        "separator": None if one.separator is None else report_weights(one.separator),
    }
    if hinge is not None:
        report["hinge"] = {
            "total": hinge.total, "limit": hinge.limit, "norm_limit": hinge.norm_limit, "wrong": hinge.wrong,
            "short": hinge.short,
        }  # fmt: skip
    report["attempts"] = [report_attempt(attempt) for attempt in one.attempts]
    report["learners"] = [vars(bound) | {"holds": bound.holds} for bound in one.learners]
    if one.invariants is not None:
        report["invariants"] = {"hold": one.invariants.hold, "updates": one.invariants.report()}
    return report


def report_combination(certificate: "Certificate") -> list[dict[str, Any]]:
    """The signed rows and weights of the combination: rows from 0, with many classes the wrong class r compared with.

    A weight that is part of an exact proof is also there as a fraction, in decimal digits.
    """
    found, labels = certificate.separability, certificate.labels
    entries = []
    for example, part in zip(found.rows.tolist(), found.parts, strict=True):
        entry: dict[str, Any] = {"row": example, "weight": float(part)}
        if len(labels) > 2:
            row, rival = divmod(example, len(labels) - 1)
            truth = certificate.codes[row]
            entry |= {"row": row, "rival": plain_label(labels[rival + (rival >= truth)])}
        if found.margin_limit == 0.0 and part.denominator.bit_length() < MOST_BITS:
            entry["fraction"] = f"{part.numerator}/{part.denominator}"
        entries.append(entry)
    return entries


def report_weights(weights: Any) -> dict[str, Any]:
    """Weights by the text of the feature, and of the label where there are many."""
    return {
        str(name): {str(label): one for label, one in value.items()} if isinstance(value, dict) else value
        for name, value in weights.items()
    }


def report_attempt(attempt: "Attempt") -> dict[str, Any]:
    return {name: value for name, value in vars(attempt).items() if value is not None}
