"""Classes of concepts in model files, everything checked when it is read."""

from typing import Any

import numpy as np

from noregret.concepts.concept_class import PredicateClass, ThresholdClass, enumerate_literals
from noregret.concepts.elimination import CONCEPT
from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_count, read_list
from noregret.learner.model_file import Arrays, FindCard, Header


def restore_class(header: Header, arrays: Arrays, find_card: FindCard) -> ThresholdClass | PredicateClass | None:
    """The class of a model file; predicates are those of the caller."""
    kind = header.get("class")
    if kind is None:
        return None
    if kind == "predicates":
        names = read_list(header, "functions")
        if not names or any(not isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise corrupt("functions must be different names")
        return PredicateClass({name: find_card.find_predicate(name) for name in names})
    features = read_list(header, "class_features")
    numbered = features == list(range(len(features)))
    try:
        given: Any = len(features) if numbered and features else features
        if kind == "literals":
            flags = [header.get(f"class_{name}") for name in ("negations", "exactly")]
            concept = header.get("class_concept")
            if concept not in CONCEPT.among or any(not isinstance(flag, bool) for flag in flags):
                raise corrupt("the class must be of conjunctions or disjunctions")
            return enumerate_literals(concept, given, read_count(header, "class_k"), *flags)  # type: ignore[arg-type]
        if kind != "thresholds":
            raise corrupt("class must be literals, thresholds or predicates")
        return restore_thresholds(features, arrays, header.get("class_closed"))
    except BadValue as error:
        raise corrupt(str(error).removeprefix("corrupt model file: ")) from None


def restore_thresholds(features: list[Any], arrays: Arrays, closed: Any) -> ThresholdClass:
    """Threshold functions of a model file."""
    numbered = features == list(range(len(features)))
    if not isinstance(closed, bool) or (closed and not features):
        raise corrupt("class_closed must be true or false, and features must be there where it is true")
    if not numbered and (any(not isinstance(one, str) for one in features) or len(set(features)) < len(features)):
        raise corrupt("features must be different names, or columns")
    places, weights, thetas = (arrays.get(name) for name in ("places", "weights", "thetas"))
    if places is None or weights is None or thetas is None or not thetas.size:
        raise corrupt("a class needs places, weights and thetas")
    if places.dtype != np.int32 or weights.dtype != np.float64 or thetas.dtype != np.float64 or thetas.ndim != 1:
        raise corrupt("places must be whole numbers, weights and thetas numbers")
    if places.ndim != 2 or places.shape != weights.shape or places.shape[1] != thetas.size:
        raise corrupt("places, weights and thetas do not fit together")
    if places.size and (places.min() < 0 or places.max() > len(features)):
        raise corrupt("places must be numbers of features")
    if not np.isfinite(weights).all() or not np.isfinite(thetas).all():
        raise corrupt("weights and thetas must be finite")
    return ThresholdClass(list(features), places, weights, thetas, closed=closed)
