"""An error in the printed step of passive-aggressive learning with costs, shown by a small run."""

from verification.examples.page import Row, Section

COSTS = Section(
    "With costs, the multiclass step uses the cost as margin",
    """Printed: the constraint requires the correct class y to exceed the class z by the cost of confusing them, but the
step is tau = (1 - (s_y - s_z)) / |D|^2, with 1 where the cost belongs. Such a step does not satisfy its own constraint.
The library uses the cost (`margin="loss"`), its square root or 1, as asked.""",
    """
x, cost = np.array([1.0, 2.0]), 3.0
D = np.concatenate((x, -x, [0.0, 0.0]))  # classes 0, 1 and 2: class 0 is correct, class 1 is its rival
printed = (1.0 - 0.0) / (D @ D) * D

learner = make("pa", cost={0: {1: cost}}, competitor="max_loss", classes=[0, 1, 2]).learn([x], [0])
library = weights(learner).reshape(-1)
constraint = {"type": "ineq", "fun": lambda W: D @ W - cost}
solver = minimize(lambda W: 0.5 * W @ W, np.ones(6), method="SLSQP", constraints=[constraint], options={"ftol": 1e-14})
assert np.allclose(library, solver.x, atol=1e-6)
assert not np.allclose(printed, solver.x, atol=0.01)
""",
    (
        Row("as printed: margin after the step, of the 3 required", "D @ printed"),
        Row("the library: margin after the step", "D @ library"),
        Row("the library: W", "library.reshape(3, 2)"),
        Row("a solver of the constrained problem: W", "solver.x.reshape(3, 2).round(4)"),
    ),
)
