"""What stands between a task and a rule: the standard hooks, and one adaptor for each kind of rule.

The names bound by specialization (rule, slope, weight, score, update, final ...) are declared here so that the
functions can be read on their own; in a specialized copy they are the learner's own.
"""

from typing import Any

from noregret.algebra.internal_verbs import (
    blocks,
    class_block,
    count,
    dots,
    mean_dot,
    mean_dots,
    part,
    row,
    row_and_dot,
    row_dot,
    scaled_by,
)
from noregret.algebra.verbs import add, dot, helper, sqnorm, unbound
from noregret.rules.row_size import count_row, follows_rows, row_size, with_size
from noregret.tasks.row_cells import (
    CELLS,
    add_terms,
    cell_place,
    cell_value,
    fill_lanes,
    make_cells,
    make_numbers,
    read_cells,
    write_cells,
)

rule = slope = weight = score = final = fitted = unbound


def weighed(p: Any, h: Any) -> Any:
    """The parameters for a round of importance h."""
    if type(p).weight_place is None:
        return p
    where, power = type(p).weight_place
    field = p._fields[where]
    return p._replace(**{field: p[where] * h if power > 0 else p[where] / h})


def as_given(p: Any, s: Any, z: Any, margin: Any) -> Any:
    """The parameters for an example, none of which follows the rows."""
    return p


def fitted_to_rows(p: Any, s: Any, z: Any, margin: Any) -> Any:
    """The parameters for an example: those that follow the rows where they are 0 get their value.

    S is the size of the rows with a hinge loss, which are those that such rules learn from.
    """
    if follows_rows(p):
        return with_size(p, count_row(s, sqnorm(z)) if margin < 1.0 else row_size(s))
    return p


def still(s: Any) -> Any:
    """The state as a weight sees it: nothing counts on while a row is read, and compiled code relies on that."""
    return s


def score_by_vector(p: Any, s: Any, x: Any) -> Any:
    return dot(s.w, x)


def score_by_weight(p: Any, s: Any, x: Any) -> Any:
    """Four running sums, as in `dot`, so that one addition need not wait for the last."""
    seen = still(s)
    cells, values, terms = make_cells(seen), make_numbers(), make_numbers()
    sums = (0.0, 0.0, 0.0, 0.0)
    for b in range(blocks(x)):
        q = part(x, b)
        for first in range(0, count(q), CELLS):
            n = min(CELLS, count(q) - first)
            for k in range(read_cells(seen, cells, values, q, first, n)):
                terms[k] = weight(p, cells, cell_place(seen, q, first, k)) * cell_value(seen, values, q, first, k)
            fill_lanes(terms, n, 0.0)
            sums = add_terms(sums, terms, n)
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def final_by_mean(p: Any, s: Any, x: Any) -> Any:
    return mean_dot(s.w, x)


def finals_by_mean(p: Any, s: Any, x: Any, stride: Any, out: Any) -> Any:
    mean_dots(s.w, x, stride, out)


def row_by_vector(p: Any, s: Any, X: Any, t: Any) -> Any:
    return row_dot(s.w, X, t)


def row_and_score_by_vector(p: Any, s: Any, X: Any, t: Any) -> Any:
    return row_and_dot(s.w, X, t)


def row_and_score_by_score(p: Any, s: Any, X: Any, t: Any) -> Any:
    x = row(X, t)
    return x, score(p, s, x)


def row_by_final(p: Any, s: Any, X: Any, t: Any) -> Any:
    return final(p, s, row(X, t))


def scores_by_vector(p: Any, s: Any, x: Any, stride: Any, out: Any) -> Any:
    dots(s.w, x, stride, out)


def scores_one_by_one(p: Any, s: Any, x: Any, stride: Any, out: Any) -> Any:
    for c in range(out.size):
        out[c] = score(p, s, class_block(x, c, stride))


@helper
def take_steps(s: Any, x: Any, steps: Any, stride: Any) -> Any:
    """Move the weights of every class along the row, each by its own step."""
    for c in range(steps.size):
        if steps[c] != 0.0:
            add(s.w, steps[c], class_block(x, c, stride))


def update_margin(p: Any, s: Any, z: Any, margin: Any, h: Any) -> Any:
    """A row of zeros is a round, but no step can help it."""
    if sqnorm(z) > 0.0:
        return bool(rule(weighed(fitted(p, s, z, margin), h), s, z, margin))
    return False


def update_gradient(p: Any, s: Any, z: Any, margin: Any, h: Any) -> Any:
    a = slope(margin)
    rule(p, s, scaled_by(z, h * a))
    return a != 0.0


def update_coordinates(p: Any, s: Any, z: Any, margin: Any, h: Any) -> Any:
    a = slope(margin)
    if a == 0.0:
        return False
    cells, values = make_cells(s), make_numbers()
    for b in range(blocks(z)):
        q = part(z, b)
        for first in range(0, count(q), CELLS):
            n = min(CELLS, count(q) - first)
            for k in range(read_cells(s, cells, values, q, first, n)):
                g = h * a * cell_value(s, values, q, first, k)
                if g != 0.0:
                    rule(p, cells, cell_place(s, q, first, k), g)
            write_cells(s, cells, q, first, n)
    return True


BY_SLOPE = {"gradient": update_gradient, "coordinate": update_coordinates}
