"""The quantities that bounds are functions of: one vocabulary, so that a metric can fill in any bound.

x_t is the row of round t, y_t its truth and u the comparator. The signed example z_t is y_t x_t with two classes,
Psi(x_t, y_t) - Psi(x_t, r) with many, where r is the class compared with, and sign(y_t - w_t.x_t) x_t in regression;
its margin is w.z_t, in regression 1 - |error| + eps. g_t is the gradient of the loss of round t at the weights w_t. In
regression the bounds hold for targets as they are given (scale_target=False).
"""

from typing import Literal, NamedTuple, TypeAlias

QuantityName: TypeAlias = Literal[
    "active_features", "best_expert_loss", "best_subspace_loss", "classes", "comparator_loss",
    "comparator_loss_on_updates", "comparator_normalised_errors", "comparator_precision",
    "comparator_squared_errors", "comparator_squares", "concepts", "coordinate_gradients", "distance",
    "distance_inf", "divergence", "excess_squares", "experts", "features", "initial_excess", "initial_norm",
    "largest_eigenvalue", "largest_gradient", "largest_value", "last_rate", "least_radius", "least_relative",
    "log_det", "loss_before", "loss_variance", "margin", "margin_1", "margin_q", "mixability_gap", "norm", "norm_1",
    "norm_inf", "norm_q", "radius", "radius_p", "relative_margin", "relevant", "rounds", "row_radius", "row_range",
    "runs", "smallest_eigenvalue", "squared_batch_gradients", "squared_gradients", "squared_gradients_inf",
    "squared_gradients_p", "squared_scores_on_updates", "summed_rates", "switches", "updates_without_mistake",
    "variance_after", "variance_before", "variances_on_updates",
]  # fmt: skip
Source: TypeAlias = Literal["rows", "comparator", "play", "update"]


class Quantity(NamedTuple):
    """A quantity: its symbol, its definition, and what it is computed from.

    rows: the rows and truths alone; comparator: also the comparator u; play: also what the learner did, round by round;
    update: a single update, before and after.
    """

    symbol: str
    source: Source
    about: str


QUANTITIES: dict[QuantityName, Quantity] = {
    # ---- rows --------------------------------------------------------------------------------------------------------
    "rounds": Quantity("T", "rows", "the number of rounds"),
    "features": Quantity("n", "rows", "the number of features: one more than the largest index of a non-zero value"),
    "classes": Quantity("k", "rows", "the number of classes"),
    "concepts": Quantity("|C|", "rows", "the number of concepts in the class that the learner was given"),
    "experts": Quantity("N", "rows", "the number of experts, also of those that arrived later"),
    "radius": Quantity("R", "rows", "max over t of |z_t|: |x_t| with two classes or targets, sqrt(2) |x_t| with more"),
    "least_radius": Quantity("r", "rows", "min over t of |z_t|"),
    "least_relative": Quantity("r", "rows", "min over t and i of x_ti / (max over j of x_tj), x_t > 0 price relatives"),
    "radius_p": Quantity("R", "rows", "max over t of |z_t|_p, where p is the learner's parameter p"),
    "row_radius": Quantity("R", "rows", "max over t of |x_t|, for learners that step along rows"),
    "row_range": Quantity("R", "rows", "max over t of (max over j of x_tj) - (min over j of x_tj)"),
    "largest_value": Quantity("X", "rows", "max over t and j of |x_tj|"),
    "smallest_eigenvalue": Quantity("a", "rows", "the smallest eigenvalue of X'X, the rows of a batch, that is not 0"),
    "largest_eigenvalue": Quantity("b", "rows", "the largest eigenvalue of X'X, where X holds the rows of a batch"),
    # ---- comparator --------------------------------------------------------------------------------------------------
    "norm": Quantity("|u|", "comparator", "the Euclidean norm of the comparator; of many classes, the Frobenius norm"),
    "norm_1": Quantity("|u|_1", "comparator", "the sum of |u_j|"),
    "norm_q": Quantity("|u|_q", "comparator", "the q-norm of u, where 1/p + 1/q = 1 and p is the learner's p"),
    "norm_inf": Quantity("|u|_inf", "comparator", "max over j of |u_j|"),
    "margin": Quantity("gamma", "comparator", "min over t of u.z_t / |u|; defined where it is positive"),
    "margin_1": Quantity("gamma", "comparator", "min over t of u.z_t / |u|_1; defined where it is positive"),
    "margin_q": Quantity("gamma", "comparator", "min over t of u.z_t / |u|_q; defined where it is positive"),
    "relative_margin": Quantity(
        "gamma", "comparator", "min over t of u.z_t / (|u|_q |z_t|_p), p the learner's; defined where it is positive"
    ),
    "divergence": Quantity("KL", "comparator", "the sum of u_j ln(n u_j), for u_j >= 0 that sum to 1"),
    "relevant": Quantity("k", "comparator", "the number of features (or negated features) in the target disjunction"),
    "comparator_loss": Quantity(
        "L(u)", "comparator", "sum over t of the hinge loss of u, max(0, 1 - u.z_t); in regression eps-insensitive"
    ),
    "comparator_squares": Quantity(
        "L2(u)", "comparator", "sum over t of the squared hinge (eps-insensitive) loss of u"
    ),
    "comparator_squared_errors": Quantity("E(u)", "comparator", "sum over t of (y_t - u.x_t)^2"),
    "comparator_normalised_errors": Quantity(
        "N(u)", "comparator", "sum over t of (y_t - u.x_t)^2 / (delta + |x_t|^2), delta the learner's"
    ),
    "best_expert_loss": Quantity("L*", "comparator", "the summed losses of the best expert; of mistakes, their number"),
    "best_subspace_loss": Quantity(
        "L*", "comparator", "the least sum of |x_t - P x_t|^2 over all projections P on as many directions as are kept"
    ),
    "switches": Quantity("k", "comparator", "how often the sequence of experts that is compared with changes"),
    # ---- play --------------------------------------------------------------------------------------------------------
    "initial_norm": Quantity("|w_1|", "play", "the norm of the weights before the first round: 0 unless random"),
    "initial_excess": Quantity("E_1", "play", "sum of (y - w_1.x)^2 over the rows of a batch, less the least possible"),
    "distance": Quantity("D", "play", "max over t of |w_t - u|; or the diameter of the set the weights are kept in"),
    "distance_inf": Quantity("D", "play", "max over t and j of |w_tj - u_j|"),
    "largest_gradient": Quantity("G", "play", "max over t of |g_t|; or the Lipschitz constant of the loss times R"),
    "squared_gradients": Quantity("sum |g|^2", "play", "sum over t of |g_t|^2"),
    "squared_gradients_inf": Quantity("sum |g|_inf^2", "play", "sum over t of max over j of g_tj^2"),
    "squared_gradients_p": Quantity("sum |g|_p^2", "play", "sum over t of |g_t|_p^2, where p is the learner's p"),
    "squared_batch_gradients": Quantity(
        "sum |G_b|^2", "play", "sum over batches of |G_b|^2, where G_b is the sum of the gradients of the batch"
    ),
    "coordinate_gradients": Quantity("sum_j |g_j|", "play", "sum over j of sqrt(sum over t of g_tj^2)"),
    "active_features": Quantity("m", "play", "the number of coordinates whose gradient was ever other than zero"),
    "comparator_loss_on_updates": Quantity("L_U(u)", "play", "sum of max(0, 1 - u.z_t) over the rounds with an update"),
    "squared_scores_on_updates": Quantity("u'S u", "play", "sum of (u.z_t)^2 over the rounds with an update"),
    "log_det": Quantity(
        "ln det",
        "play",
        "ln det(I + S / r), S the sum of z_t z_t' over the rounds with an update, r the learner's or 1",
    ),
    "updates_without_mistake": Quantity("U", "play", "the number of rounds with an update but no mistake"),
    "comparator_precision": Quantity("u'A u", "play", "u'A u, where A = Sigma^-1 after the last update"),
    "variances_on_updates": Quantity("V", "play", "sum of z_t'Sigma z_t over the updates, each with Sigma after it"),
    "runs": Quantity("m", "play", "the number of separate runs that were merged; 1 where none were"),
    "last_rate": Quantity("eta_T", "play", "the learning rate of the last round, the smallest of all"),
    "summed_rates": Quantity("sum eta", "play", "sum over t of the learning rate eta_t"),
    "mixability_gap": Quantity("Delta", "play", "sum over t of the mean loss q_t.l_t less the mix loss of the experts"),
    "loss_variance": Quantity(
        "V", "play", "sum over t of the variance of the losses of the experts, by the weights q_t"
    ),
    "excess_squares": Quantity("V_i", "play", "sum over t of (q_t.l_t - l_ti)^2, where i is the expert compared with"),
    # ---- update ------------------------------------------------------------------------------------------------------
    "loss_before": Quantity(
        "l", "update", "the loss of the round that led to the update: hinge, for SCW max(0, phi sqrt(z'Sigma z) - w.z)"
    ),
    "variance_before": Quantity("v", "update", "z'Sigma z, with Sigma before the update"),
    "variance_after": Quantity("v", "update", "z'Sigma z, with Sigma after the update"),
}
