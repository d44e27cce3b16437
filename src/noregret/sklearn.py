"""The learners as scikit-learn estimators: `from noregret.sklearn import AROWClassifier`.

`dir` of this module lists every class there is. For a rule of your own: `noregret.interop.classifier(rule)`.
"""

from typing import Any

from noregret.interop.building import estimator_class, shelf

__all__ = list(shelf())


def __getattr__(name: str) -> Any:
    """Each class is made from its cards when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = estimator_class(shelf()[name], __name__)
    return made


def __dir__() -> list[str]:
    return __all__
