"""What a saved model is: its learner, options, classes, features, history and largest weights."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from noregret.evaluation.capabilities import (
    class_sides,
    classes_of,
    config_of,
    describe_calibration,
    describe_preparation,
    features_of,
    given_options,
    hypothesis_of,
    inner_learner,
    kernel_of,
    nonzeros_of,
    parameters_of,
    report_of_pool,
    results_of,
    supports_of,
    task_of,
    weights_of,
)
from noregret.evaluation.report import SCHEMA, count_of, plain_label
from noregret.evaluation.tables import table, text_table
from noregret.learner.protocol import Learner
from noregret.learner.supports import KernelUse
from noregret.learner.variants import name_learner

LARGEST = 10  # weights shown of each class
CLASSES = 10  # classes shown
SHOWN = 6  # features shown of a support


def report_model(learner: Learner, path: str) -> dict[str, Any]:
    """A model as JSON."""
    inner = inner_learner(learner)
    weights = weights_of(inner)
    return {
        "schema": SCHEMA,
        "model": path,
        "learner": learner.card.name,
        "name": name_learner(learner),
        "about": learner.card.about,
        "inner": None if inner is learner else report_inner(inner),
        "task": learner.task,
        "parameters": parameters_of(learner),
        "options": {name: repr(value) for name, value in given_options(inner).items()},
        "rounds": learner.rounds,
        "mistakes": learner.mistakes if counts_mistakes(learner) else None,
        "updates": learner.updates,
        "classes": [plain_label(label) for label in classes_of(inner)],
        "features": features_of(inner),
        "nonzeros": nonzeros_of(inner),
        "kernel": report_kernel(inner),
        "probabilities": describe_calibration(inner),
        "source": learner.source,
        "pool": None if (pool := report_of_pool(inner)) is None else pool.as_dict(),
        "hypothesis": hypothesis_of(inner),
        "results": results_of(inner),
        "weights": weights if isinstance(weights, str) else {str(name): value for name, value in weights.items()},
    }


def report_inner(learner: Learner) -> dict[str, Any]:
    """The learner inside another."""
    return {"learner": learner.card.name, "name": name_learner(learner), "parameters": parameters_of(learner)}


def report_kernel(learner: Learner) -> dict[str, Any] | None:
    """The kernel with its parameters, budget and all supports; None where there is none."""
    used = kernel_of(learner)
    if used is None:
        return None
    rows = [
        {
            "coefficient": plain_coefficient(one.coefficient),
            "row": {str(name): value for name, value in one.row.items()},
        }
        for one in supports_of(learner)
    ]
    return {**used._asdict(), "budget": used.budget or None, "policy": used.policy or None, "rows": rows}


def plain_coefficient(coefficient: Any) -> Any:
    """The coefficient of a support, by the text of the class where there are many."""
    if isinstance(coefficient, dict):
        return {str(plain_label(label)): value for label, value in coefficient.items()}
    return coefficient


def largest_weights(learner: Learner) -> list[dict[str, Any]]:
    """The largest weights, of each class where classes have their own; none where the learner has no weights."""
    learner = inner_learner(learner)
    weights = weights_of(learner, LARGEST)
    if isinstance(weights, str):
        return []
    many = task_of(learner).many
    parts = islice(weights.items(), CLASSES) if many else [(side_of_weights(learner), weights)]
    return [
        {"of": plain_label(label), "weights": [[str(name), value] for name, value in islice(one.items(), LARGEST)]}
        for label, one in parts
        if one
    ]


def side_of_weights(learner: Learner) -> Any:
    """The class that positive weights speak for, where there are two."""
    return class_sides(learner)[1] if len(classes_of(learner)) == 2 else None


def describe_model(learner: Learner, path: str) -> str:
    """A model as text for people."""
    return "\n".join(lines_of(learner, path)) + "\n"


def lines_of(learner: Learner, path: str) -> Iterator[str]:
    card, inner = learner.card, inner_learner(learner)
    yield f"{path}: {name_learner(learner)}, {card.about[:1].lower()}{card.about[1:]}"
    yield ""
    if inner is not learner:
        yield f"learner     {name_learner(inner)}, {inner.card.about[:1].lower()}{inner.card.about[1:]}"
    yield f"task        {learner.task}"
    own = {} if inner is learner else {k: v for k, v in parameters_of(learner).items() if k != "learner"}
    numbers = ", ".join(f"{name} = {show(value)}" for name, value in (own | parameters_of(inner)).items())
    yield f"parameters  {numbers or 'none'}"
    for number, text in enumerate(describe_preparation(inner)):
        yield f"{'rows' if number == 0 else '':12}{text}"
    classes = classes_of(inner)
    if classes:
        names = ", ".join(str(plain_label(label)) for label in classes[:CLASSES])
        yield f"classes     {len(classes):,}: {names}{', ...' if len(classes) > CLASSES else ''}"
    yield f"features    {describe_features(inner)}"
    used = kernel_of(inner)
    if used is not None:
        yield f"kernel      {used.text}"
    yield f"learned     {describe_history(learner)}"
    if (words := hypothesis_of(inner)) is not None:
        yield f"hypothesis  {words}"
    calibration = describe_calibration(inner)
    if calibration is not None:
        yield f"proba       {calibration}"
    if learner.source:
        yield f"from        {describe_origin(learner.source)}"
        yield from describe_columns(learner.source)
    weights, pool, results = weights_of(inner, LARGEST), report_of_pool(inner), results_of(inner)
    yield ""
    if results is not None:
        yield from results
    elif pool is not None:
        yield str(pool)
    elif used is not None:
        yield describe_supports(inner, used)
    else:
        yield weights if isinstance(weights, str) else describe_weights(inner, weights)
    yield ""
    command, commands = getattr(learner, "command", None), getattr(learner, "commands", None)
    if commands is not None:
        yield from commands(path)
    elif command is None:
        yield f"noregret predict {path} NEW_ROWS --out predictions.csv"
        yield f"noregret learn MORE_ROWS --resume {path}"
    else:
        yield f"noregret {command} {path} NEW.conllu --out predicted.conllu"
        yield f"noregret {command} MORE.conllu --resume {path}"
    yield f'python: import noregret as nr; model = nr.load("{path}"); model.predict_one(row)'


def show(value: Any) -> str:
    if isinstance(value, list):
        return f"{len(value)} learners"
    if isinstance(value, Mapping) and "name" in value:  # another learner
        return str(value["name"])
    return f"{value:g}" if isinstance(value, float) else str(value)


def counts_mistakes(learner: Learner) -> bool:
    return task_of(learner).prediction == "label"


def describe_features(learner: Learner) -> str:
    seen, used, config = features_of(learner), nonzeros_of(learner), config_of(learner)
    constant = " and a constant" if config is not None and config.bias else ""
    parts = [] if seen is None else [f"{seen:,} seen{constant}"]
    parts += [] if used is None or kernel_of(learner) is not None else [f"{used:,} with a weight"]
    return ", ".join(parts) or "not counted"


def describe_history(learner: Learner) -> str:
    rounds = count_of(learner.rounds, "round")
    changed = f"{learner.updates:,} of them changed it"
    if not counts_mistakes(learner) or not learner.rounds:
        return f"{rounds}, {changed}"
    share = 100.0 * learner.mistakes / learner.rounds
    return f"{rounds}, {count_of(learner.mistakes, 'mistake')} on the way ({share:.2f} %), {changed}"


def describe_origin(source: Mapping[str, Any]) -> str:
    """The data a model was learned from, and whether to the end."""
    name = str(source.get("name") or source.get("path") or "data of which no name is known")
    return f"{name}, interrupted" if source.get("ended") is False else name


def describe_columns(source: Mapping[str, Any]) -> Iterator[str]:
    """The columns of a table that are no features, and those that are read in a way of their own."""
    given = source.get("reading")
    reading = given if isinstance(given, dict) else {}
    label = source.get("label") or reading.get("label")
    if isinstance(label, str):
        yield f"label       {label}"
    left_out = source.get("left_out")
    dropped = [*names_of(reading.get("drop")), *names_of(left_out), *names_of(reading.get("key"))]
    titles = {"left out": dropped, "text": names_of(reading.get("text"))}
    titles |= {"categories": names_of(reading.get("categorical"))}
    for role in ("weight", "timestamp", "query"):
        titles[role] = names_of(reading.get(role))
    for title, names in titles.items():
        if names:
            yield f"{title:12}{', '.join(dict.fromkeys(names))}"


def names_of(given: object) -> list[str]:
    """The names of columns that an option of a model file holds, which may be forged."""
    several = given if isinstance(given, (list, tuple)) else [given]
    return [name for name in several if isinstance(name, str)]


def describe_weights(learner: Learner, weights: Mapping[Any, Any]) -> str:
    if not task_of(learner).many:
        side = side_of_weights(learner)
        return describe_largest(f"largest weights{'' if side is None else f', for {side}'}", weights)
    shown = islice(weights.items(), CLASSES)
    return "\n\n".join(describe_largest(f"largest weights of {plain_label(label)}", one) for label, one in shown)


def describe_supports(learner: Learner, used: KernelUse) -> str:
    """The supports with the largest coefficients: of the class that has it where there are many."""
    side = side_of_weights(learner)
    title = f"largest coefficients{'' if side is None else f', for {plain_label(side)}'}"
    rows = []
    for one in supports_of(learner, LARGEST):
        value = one.coefficient
        label = ""
        if isinstance(value, dict):
            best = max(value, key=lambda name: abs(value[name]))
            label, value = f" {plain_label(best)}", value[best]
        cells = [f"{name}={number:.4g}" for name, number in islice(one.row.items(), SHOWN)]
        more = f" and {len(one.row) - SHOWN} more" if len(one.row) > SHOWN else ""
        rows.append((f"{value:+.6g}{label}", ", ".join(cells) + more))
    return text_table((title, "support"), rows) if rows else f"{title}: there are no supports"


def describe_largest(title: str, weights: Mapping[Any, float]) -> str:
    rows = [(str(name), f"{value:+.6g}") for name, value in islice(weights.items(), LARGEST)]
    return table((title, "weight"), rows) if rows else f"{title}: none is other than zero"
