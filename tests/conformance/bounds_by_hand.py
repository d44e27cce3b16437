"""Bounds of theorems worked out by hand: options in force, quantities, and the number."""

import math
from typing import Any

Case = tuple[dict[str, Any], dict[str, float], float]  # options in force, quantities, the bound
NOVIKOFF: Case = ({}, {"radius": 6, "margin": 2}, 9)
NOISY: Case = ({}, {"radius": 3, "norm": 2, "comparator_squares": 16}, 100)
LENGTHS: Case = ({}, {"radius": 3, "norm": 2}, 36)
FULL = {"covariance": "full"}
CONSTANT: Case = ({"eta0": 0.25, "schedule": "constant"}, {"norm": 3, "squared_gradients": 8}, 18 + 1)
FOLLOWING: Case = (
    {"eta0": 0.0},
    {"distance": 3, "radius": 4, "least_radius": 2, "rounds": 2**12},
    36 * (1 + 12 * math.log(2) + 12) + 2**13,
)
FALLING: Case = ({"eta0": 0.25}, {"distance": 3, "largest_gradient": 2, "rounds": 16}, 72 + 3.5)
BOTTOU: Case = ({"eta0": 0.25, "lam": 0.5}, {"radius": 3, "norm": 2, "rounds": 16}, 8 + 36 * math.log(3))
AVERAGE: dict[str, float] = {"norm": 2, "norm_1": 3, "largest_gradient": 3, "rounds": 16}
FALLEN = 36 * math.log(2.5) - math.log(2.5) ** 2 * (0.5 + 20 * math.log(2))  # of Winnow after 60 updates, at r = 2
WIDE_ENOUGH = (math.log(20) / math.log(2.5) + math.log(2.5) * (0.5 + 20 * math.log(1.5))) / 20  # after 25, at r = 1.5
BY_HAND: dict[str, list[Case]] = {
    "ada_rda": [
        (
            {"eta": 0.25, "delta": 0.5},
            {"norm": 3, "norm_inf": 2, "coordinate_gradients": 5},
            2 * (0.5 * 9 + 4 * 5) + 0.25 * 5,
        )
    ],
    "adagrad": [
        (
            {"eta": 0.25, "delta": 0.5},
            {"distance_inf": 3, "coordinate_gradients": 5, "active_features": 4},
            18 * 7 + 0.25 * 5,
        ),
        (
            {"eta": 0.25, "delta": 0.5, "onto": "box", "radius": 2},
            {"norm_inf": 1, "coordinate_gradients": 5, "active_features": 4},
            18 * 7 + 0.25 * 5,
        ),
    ],
    "adaline": [
        ({"rho": 0.5}, {"radius": 1, "norm": 3, "comparator_squared_errors": 0}, 12),
        ({"rho": 0.25}, {"radius": 2, "norm": 2, "comparator_squared_errors": 9}, (3 + 5) ** 2),
        ({"rho": 0.5}, {"radius": 2, "norm": 2, "comparator_squared_errors": 9}, math.inf),
        ({"rho": 0.0}, {"radius": 2, "distance": 2, "comparator_squared_errors": 9}, (3 + 5) ** 2),
    ],
    "adaline_batch": [
        (
            {"rho": 0.1, "batch": 5.5},
            {"smallest_eigenvalue": 2, "largest_eigenvalue": 4, "rounds": 20, "initial_excess": 2},
            2 * 0.8**8,
        ),
        (
            {"rho": 0.5, "batch": 5},
            {"smallest_eigenvalue": 3, "largest_eigenvalue": 6, "rounds": 15, "initial_excess": 3},
            192,
        ),
        (
            {"rho": 0.5, "batch": 5},
            {"smallest_eigenvalue": 6, "largest_eigenvalue": 3, "rounds": 15, "initial_excess": 3},
            192,
        ),
    ],
    "adaline_normalised": [({"rho": 1}, {"norm": 4, "comparator_normalised_errors": 9}, (3 + 5) ** 2)],
    "alma": [({"p": 4, "alpha": 0.8}, {"relative_margin": 0.5}, 24 * 2.25 + 6)],
    "arow": [
        (
            {"r": 0.5, **FULL},
            {
                "norm": 2,
                "squared_scores_on_updates": 7,
                "log_det": 3,
                "updates_without_mistake": 1,
                "comparator_loss_on_updates": 5,
            },
            3 * 2 + 5 - 1,
        )
    ],
    "mira": [
        ({"flavour": "norm", "random_start": 1.0}, {"initial_norm": 3, "margin": 0.5}, 12),
        ({"C": 0.5}, {"row_radius": 3, "norm": 2, "comparator_loss": 5}, 18 * 9),
    ],
    "pa_all": [({}, {"row_radius": 3, "norm": 0.5}, 4.5)],
    "perceptron_ultraconservative": [({}, {"row_radius": 3, "margin": 0.5}, 72)],
    "banditron": [
        ({"gamma": 0.25}, {"comparator_loss": 9, "norm": 3, "classes": 8, "rounds": 100}, 9 + 25 + 3 * 576 + 72),
        ({"gamma": 0.25}, {"comparator_loss": 0, "norm": 1, "classes": 2, "rounds": 2e6}, 5e5 + 3 * 1000),
    ],
    "bogd": [
        (
            {"budget": 5.9, "eta": 0.125, "lam": 2.0},
            {"radius": 3, "norm": 2, "rounds": 16},
            16 + 9 * ((1 + 1.25) ** 2 + 1),
        )
    ],
    "cw": [({"eta": 0.8413447460685429, **FULL}, {"variance_after": 4}, 2)],
    "cw_variance": [({"eta": 0.8413447460685429, **FULL}, {"variance_after": 4}, 4)],
    "duol": [({"C": 0.05}, {"radius": 3, "norm": 2, "comparator_loss": 5}, 20 * 4.5)],
    "eg": [
        ({"eta": 0.25}, {"divergence": 3, "squared_gradients_inf": 8}, 12 + 1),
        (
            {"eta": 1 / 6, "loss": "squared"},
            {"divergence": 3, "row_range": 2, "comparator_squared_errors": 5},
            1.5 * (5 + 12),
        ),
        (
            {"eta": 0.25, "loss": "squared"},
            {"divergence": 3, "row_range": 2, "comparator_squared_errors": 5},
            2 * 5 + 12,
        ),
        (
            {"eta": 0.5, "loss": "squared"},
            {"divergence": 3, "row_range": 2, "comparator_squared_errors": 5},
            math.inf,
        ),
    ],
    "eg_signed": [({"U": 3, "eta": 0.25}, {"features": 4, "squared_gradients_inf": 8}, 4 * math.log(8) + 9)],
    "exp3": [
        ({"eta": 0.5, "gamma": 0.25}, {"classes": math.e**3, "rounds": 100}, 6 + 25 * math.e**3 + 25),
        (
            {"eta": 0.5, "gamma": 0.25, "rate": "inv_sqrt"},
            {"classes": math.e**3, "rounds": 100},
            60 + 4.75 * math.e**3 + 25,
        ),
    ],
    "fobos": [CONSTANT, FALLING, FOLLOWING],
    "fobos_group": [CONSTANT, FALLING, FOLLOWING],
    "fobos_infinity": [CONSTANT, FALLING, FOLLOWING],
    "fobos_l2": [CONSTANT, FALLING, FOLLOWING],
    "fobos_l2_squared": [CONSTANT, FALLING, FOLLOWING],
    "forgetron": [
        ({"budget": 99}, {"radius": 1, "norm": 1.1, "comparator_loss": 5}, 22.42),
        (
            {"budget": 99.9},
            {"radius": 1, "norm": 0.25 * math.sqrt(100 / math.log(100)), "comparator_loss": 0},
            12.5 / math.log(100),
        ),
        ({"budget": 99}, {"radius": 1, "norm": 1.17, "comparator_loss": 5}, math.inf),
        ({"budget": 99.9}, {"radius": 1, "norm": 1.166, "comparator_loss": 5}, math.inf),
        ({"budget": 99}, {"radius": 1.01, "norm": 1, "comparator_loss": 5}, math.inf),
    ],
    "ftrl": [
        (
            {"alpha": 0.25, "beta": 3, "l1": 7, "l2": 11},
            {"norm": 2, "norm_1": 3, "distance_inf": 4, "coordinate_gradients": 5},
            21 + 46 + 161.25,
        )
    ],
    "gradient_batch": [
        ({"eta": 0.25, "reduction": "sum", "batch": 7}, {"norm": 3, "squared_batch_gradients": 8}, 18 + 1),
        ({"eta": 0.5, "batch": 2.5}, {"norm": 3, "squared_batch_gradients": 8}, 18 + 1),
    ],
    "group_lasso": [({"gamma": 0.5, "rho": 0.25}, AVERAGE, 76 + 1.5)],
    "iellip": [({}, {}, 1)],
    "mirror_descent": [
        ({"eta": 0.25}, {"norm": 3, "squared_gradients": 8}, 18 + 1),
        ({"eta": 0.25, "link": "entropic"}, {"divergence": 3, "squared_gradients_inf": 8}, 12 + 1),
        ({"eta": 0.25, "link": "p_norm", "p": 3}, {"norm_q": 3, "squared_gradients_p": 8}, 18 + 2),
    ],
    "multitask": [({"gamma": 0.5}, AVERAGE, (1 + 18) * 4)],
    "narow": [(FULL, {"comparator_precision": 3, "variances_on_updates": 5}, 4)],
    "nherd": [({"C": 0.5}, {"loss_before": 6, "variance_before": 4}, 2)],
    "norma": [
        ({"eta": 0.25}, {"radius": 3, "norm": 2, "rounds": 16}, 8 + 72),
        (
            {"eta": 0.25, "lam": 0.5, "schedule": "inv_sqrt"},
            {"radius": 3, "norm": 2, "rounds": 16},
            64 * 4 / 0.5 + 4.5 * 7,
        ),
        ({"eta": 4.0, "lam": 0.25, "schedule": "inv_t"}, {"radius": 3, "rounds": math.e**2}, 18 * 3 / 0.25),
        ({"eta": 1.0, "lam": 0.25, "nu": 0.1}, {"radius": 3}, 12),
        ({"lam": 0.25, "nu": 0.1}, {"radius": 3, "least_radius": 0.5}, 12),
        ({"lam": 0.25, "nu": 0.1}, {"radius": 3, "least_radius": 0.4}, math.inf),
        ({"lam": 0.25}, {"distance": 2, "radius": 3, "least_radius": 0.5, "rounds": math.e**3}, 72 + 72 * math.e**3),
        ({"lam": 0.25}, {"distance": 2, "radius": 3, "least_radius": 0.4, "rounds": math.e**3}, math.inf),
    ],
    "norma_truncated": [
        (
            {"eta": 2.0, "lam": 0.25, "budget": 3.9},
            {"radius": 3, "norm": 2, "rounds": 16},
            1 + 4 * 9 * 16 + 2.5 * 0.125 * 9 * 16 / 0.25,
        ),
        ({"lam": 0.25, "nu": 0.1}, {"radius": 3}, 12),
    ],
    "ofs": [({"lam": 0.25}, {}, 2), ({"lam": 0}, {}, math.inf)],
    "ofs_partial": [({"R": 7}, {}, 7)],
    "ogd": [
        CONSTANT,
        FALLING,
        FOLLOWING,
        ({"eta0": 0.0}, {**FOLLOWING[1], "rounds": 64}, 36 * (2.5 + 6 * math.log(2)) + 1024),
        ({**FALLING[0], "schedule": "power", "power": 0.5}, FALLING[1], 72 + 3.5),
        ({**FALLING[0], "schedule": "power", "power": 1.0}, FALLING[1], 18 * 16 + 0.5 * (1 + math.log(16))),
        ({**FALLING[0], "schedule": "bottou", "decay": 0.25}, FALLING[1], 18 * 2 + 8 * math.log(2)),
        ({"eta0": 0.5}, FALLING[1], 36 + 7),
        ({"eta0": 0.5, "schedule": "power", "power": 0.75}, FALLING[1], 9 * 8 + 1 + 4 * (2 - 1)),
        (
            {"eta0": 0.25, "onto": "ball", "radius": 2},
            {"norm": 1, "largest_gradient": 2, "rounds": 16},
            72 + 3.5,
        ),
        (
            {"eta0": 0.25, "onto": "box", "radius": 0.5},
            {"norm": 1, "features": 16, "largest_gradient": 2, "rounds": 16},
            72 + 3.5,
        ),
    ],
    "p_norm": [({"p": 4}, {"radius_p": 6, "margin_q": 2}, 27)],
    "pa": [LENGTHS, ({"gate": "mistake"}, *LENGTHS[1:])],
    "pa1": [
        ({"C": 0.5}, {"radius": 3, "norm": 2, "comparator_loss": 5}, 9 * 9),
        ({"C": 0.05}, {"radius": 3, "norm": 2, "comparator_loss": 5}, 20 * 4.5),
        ({}, {"radius": 3, "least_radius": 0.5, "norm": 2, "comparator_loss": 5}, 9 * (4 + 40)),
        ({}, {"radius": 3, "least_radius": 0, "norm": 2, "comparator_loss": 5}, math.inf),
    ],
    "pa2": [
        ({"C": 0.25}, {"radius": 3, "norm": 2, "comparator_squares": 5}, 11 * 6.5),
        ({"C": 0.25, "gate": "mistake"}, {"radius": 3, "norm": 2, "comparator_squares": 5}, 11 * 6.5),
        ({}, {"radius": 3, "least_radius": 0.5, "norm": 2, "comparator_squares": 5}, 18 * (4 + 20)),
        ({"gate": "mistake"}, {"radius": 3, "least_radius": 0.5, "norm": 2, "comparator_squares": 5}, 18 * (4 + 20)),
    ],
    "pegasos": [
        ({"lam": 0.25}, {"radius": 3, "rounds": math.e**2}, 3.5**2 * 3 / 0.5),
        ({"lam": 0.25, "projection": "no"}, {"radius": 3, "rounds": math.e**2}, 2 * 9 * 3 / 0.25),
    ],
    "pegasos_batch": [
        ({"lam": 0.25, "k": 4.5}, {"radius": 3, "rounds": 4 * math.e**2}, 2 * 4 * 9 * 3 / 0.25),
    ],
    "perceptron": [
        NOVIKOFF,
        NOISY,
        ({"random_start": 1.0, "eta": 0.5}, {"radius": 6, "margin": 2, "initial_norm": 3}, 9 + 6),
    ],
    "perceptron_averaged": [NOVIKOFF, NOISY],
    "perceptron_batch": [
        ({"batch": 2.5}, {"radius": 6, "margin": 2}, 27),
        ({"batch": 2.5, "b": 3, "rho": 0.5}, {"radius": 6, "margin": 2}, 27 + 3),
    ],
    "perceptron_kernel_incremental": [NOVIKOFF],
    "perceptron_margin": [
        ({"b": 5, "eta": 4}, {"radius": 3, "margin": 2}, 11.5 / 4),
        ({"b": 0.5, "eta": 4}, {"radius": 3, "margin": 2}, 9.25 / 4),
        ({"b": 0, "eta": 4}, {"radius": 3, "margin": 2}, 13.5 / 4),
    ],
    "perceptron_pocket": [NOVIKOFF, NOISY],
    "perceptron_truncated": [
        ({"B": 5}, {"radius": 6, "margin": 2, "features": 5, "classes": 2}, 9),
        ({"B": 15}, {"radius": 6, "margin": 2, "features": 5, "classes": 3}, 9),
        ({"B": 5}, {"radius": 6, "margin": 2, "features": 6, "classes": 2}, math.inf),
        ({"B": 14}, {"radius": 6, "margin": 2, "features": 5, "classes": 3}, math.inf),
    ],
    "perceptron_voted": [NOVIKOFF, NOISY],
    "projectron": [
        ({"eta": 0.125}, {"radius": 3, "norm": 2, "comparator_loss": 5}, 92),
        ({"eta": 0.25}, {"radius": 3, "norm": 2, "comparator_loss": 5}, math.inf),
    ],
    "projectron_plus_plus": [
        ({"eta": 0.125}, {"radius": 1, "norm": 2, "comparator_loss": 5}, 28),
        ({"eta": 0.125}, {"radius": 0.5, "norm": 2, "comparator_loss": 5}, 28),
        ({"eta": 0.125}, {"radius": 1.01, "norm": 2, "comparator_loss": 5}, math.inf),
    ],
    "rda": [({"gamma": 0.5}, AVERAGE, (1 + 18) * 4)],
    "rda_enhanced": [({"gamma": 0.5, "rho": 0.25}, AVERAGE, 76 + 1.5)],
    "rda_strongly_convex": [({"s": 0.25}, {"largest_gradient": 3, "rounds": math.e**2}, 18 * 8)],
    "romma": [LENGTHS],
    "romma_aggressive": [LENGTHS],
    "rounding": [
        (
            {"eta0": 0.25, "theta": 0.25, "K": 6, "schedule": "constant"},
            {"norm": 3, "norm_1": 4, "squared_gradients": 8, "rounds": 16},
            18 + 1 + 8,
        ),
        (
            {"eta0": 0.25, "theta": 0.25, "K": 6},
            {"norm_1": 4, "distance": 3, "largest_gradient": 2, "rounds": 16},
            72 + 3.5 + 32,
        ),
        (
            {"eta0": 0.0, "theta": 0.25, "K": 6},
            {"norm_1": 4, "distance": 2, "radius": 3, "least_radius": 3, "rounds": 16},
            9 * (1.75 + math.log(16)) + 128 + 4 * 0.25 * 2 * 1.5,
        ),
        (
            {"eta0": 0.0, "theta": 0.25, "K": 17},
            {"norm_1": 4, "distance": 2, "radius": 3, "least_radius": 3, "rounds": 16},
            9 * (1.75 + math.log(16)) + 128,
        ),
        (
            {"eta0": 0.0, "theta": 0.25, "K": 6},
            {"norm_1": 4, **FOLLOWING[1]},
            FOLLOWING[2] + 4 * 0.25 * 682 * 8,
        ),
    ],
    "scw1": [({"C": 3, **FULL}, {"loss_before": 2}, 6)],
    "scw2": [({"C": 3, **FULL}, {"loss_before": 2}, 12)],
    "sgd_bottou": [BOTTOU],
    "sgd_bottou_averaged": [BOTTOU],
    "sop": [
        (
            FULL,
            {"norm": 1, "comparator_loss_on_updates": 3, "squared_scores_on_updates": 7, "log_det": 2},
            3 + 4,
        )
    ],
    "truncated_gradient": [CONSTANT, FALLING, FOLLOWING],
    "winnow": [
        ({"alpha": 2}, {"features": 5, "relevant": 2}, 20),
        ({"theta": 3, "alpha": 3}, {"features": 5, "relevant": 2}, 4 * 2 + 2.5),
        ({"theta": 0.5, "alpha": 3}, {"features": 5, "relevant": 2}, 15),
        ({"demotion": "eliminate", "alpha": 2}, {"features": 5, "relevant": 2}, 13),
        ({"demotion": "eliminate", "theta": 10, "alpha": 3}, {"features": 5, "relevant": 2}, 18.5),
        ({"theta": 2.5}, {"features": 45, "relevant": 2}, 20 * (2.1**2 - 1)),
        ({"theta": 0.1}, {"features": 2.4, "relevant": 2}, 60),
        ({"demotion": "eliminate", "theta": 2.5}, {"features": 75, "relevant": 2}, 60),
    ],
    "winnow_balanced": [
        (
            {"alpha": 3, "theta": 3, "start": 1.5},
            {"features": 4, "margin_1": 0.9, "largest_value": 1.0},
            math.log(16) / (0.9 * math.log(3) - math.log(5 / 3)),
        ),
        ({"alpha": 3, "theta": 3, "start": 1.5}, {"features": 4, "margin_1": 0.1, "largest_value": 1.0}, math.inf),
        (
            {"alpha": 1, "theta": 0, "start": 1},
            {"features": 0.5 * math.exp(FALLEN), "margin_1": 0.9, "largest_value": 1.0},
            60,
        ),
        (
            {"theta": 2, "start": 1},
            {"features": 10.0 - 1.0 / math.tanh(math.log(2.5) / 3), "margin_1": WIDE_ENOUGH, "largest_value": 1.0},
            25,
        ),
        ({"theta": 2}, {"features": 4, "margin_1": 0, "largest_value": 1.0}, math.inf),
        ({"alpha": 3, "theta": 3, "start": 1.5}, {"features": 4, "margin_1": 0.9, "largest_value": 1.1}, math.inf),
        ({"theta": 2, "start": 1}, {"features": 4, "margin_1": 0.9, "largest_value": 1.1}, math.inf),
    ],
    "winnow_duplicated": [
        ({"alpha": 2}, {"features": 6, "relevant": 2}, 26),
        ({"theta": 3, "alpha": 3}, {"features": 6, "relevant": 2}, 4 * 2 + 6),
        ({"theta": 2.5}, {"features": 22.5, "relevant": 2}, 20 * (2.1**2 - 1)),
    ],
}
