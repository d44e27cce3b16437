"""Errata that no small run can show, and why."""

LEFT_OUT = (
    (
        "indices in backpropagation; how an incremental SVD extends its factors, and at what cost",
        "networks and decompositions are not part of the library",
    ),
    (
        "the truncated-gradient theorem with missing signs and factors",
        "the printed form cannot be evaluated; the corrected one is on the card of `truncated_gradient`, and is tested",
    ),
    (
        "O(ln T / T) where h, not the penalty, is strongly convex",
        "a condition of the theorem; it is on the card of `rda_strongly_convex`, whose bound is tested",
    ),
    (
        "eta_i for y_i, a sum for an inner product, indices off by one, names and years",
        "typing errors, with nothing to compute",
    ),
)

TAIL = "\n".join(
    ["## Left out", "", "| what is printed | why it is not shown here |", "|---|---|"]
    + [f"| {what} | {why} |" for what, why in LEFT_OUT]
)
