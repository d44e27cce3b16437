"""The learners as scikit-learn estimators: `from noregret.sklearn import AROWClassifier`.

`dir` of this module lists all classes. For a rule of your own: `noregret.interop.classifier(rule)`.
"""

from typing import Any

from noregret.errors import import_extra

import_extra("sklearn", "sklearn", "noregret.sklearn")

from noregret.interop.class_factory import built_in_families, make_class  # noqa: E402

__all__ = list(built_in_families())


def __getattr__(name: str) -> Any:
    """Make a class from its cards when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    estimator = globals()[name] = make_class(built_in_families()[name], __name__)
    return estimator


def __dir__() -> list[str]:
    return __all__
