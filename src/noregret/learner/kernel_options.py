"""The kernel of a learner and its parameters, checked."""

from typing import Any

from noregret.algebra.kernel import BANKS
from noregret.errors import BadValue
from noregret.rules.parameters import Param, suggestion

KERNEL_PARAMS = {
    "gamma": Param(1.0, above=0.0, about="how fast the kernel falls with distance, or the factor of the product"),
    "coef0": Param(1.0, at_least=0.0, about="the constant of the polynomial kernel"),
    "degree": Param(3.0, at_least=1.0, about="the power of the polynomial kernel"),
}
KERNEL_TAKES = {"linear": (), "polynomial": ("gamma", "coef0", "degree"), "rbf": ("gamma",)}
KernelParams = tuple[float, float, float]


def check_kernel(kernel: Any, algebra: str | None) -> str:
    if kernel is not None and algebra != "kernel":
        raise BadValue(f'kernel={kernel!r} needs algebra="kernel"')
    if kernel not in (None, *BANKS):
        raise BadValue(f"kernel must be one of {', '.join(BANKS)}, not {kernel!r}{suggestion(kernel, BANKS)}")
    return kernel or "rbf"


def check_kernel_params(kernel: str, rest: dict[str, Any]) -> KernelParams:
    values = {
        name: param.check(
            f"kernel {kernel}",
            name,
            rest.pop(f"kernel.{name}", rest.pop(name, param.default))
            if name in KERNEL_TAKES[kernel]
            else param.default,
        )
        for name, param in KERNEL_PARAMS.items()
    }
    return values["gamma"], values["coef0"], values["degree"]
