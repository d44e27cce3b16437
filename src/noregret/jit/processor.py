"""The processor that functions are compiled for: this one, or the baseline of the object files in a wheel."""

import hashlib
import os
import platform
from functools import cache
from typing import NamedTuple


class Processor(NamedTuple):
    """A processor as LLVM names it, and its features, such as +avx2,+fma."""

    name: str
    features: str

    @property
    def mark(self) -> str:
        """A hash of the processor, the system and the version of LLVM: a part of every object file's name."""
        import llvmlite
        import llvmlite.binding as llvm

        traits = (self.name, self.features, llvm.get_default_triple(), llvmlite.__version__)
        return hashlib.sha256(repr(traits).encode()).hexdigest()[:16]


# What most servers and PCs since 2013 have, with vectors of 256 bits.
V3 = "avx avx2 bmi bmi2 cx16 f16c fma lzcnt movbe popcnt sahf sse3 sse4.1 sse4.2 ssse3 xsave"
BASELINES = {"x86_64": Processor("x86-64-v3", ",".join(f"+{feature}" for feature in V3.split()))}


def find_baseline() -> Processor | None:
    """The processor that object files of a wheel are compiled for, on machines of this kind."""
    return BASELINES.get(platform.machine())


@cache
def find_target() -> Processor:
    """The processor that numba compiles for: this one, unless a setting of numba names another."""
    import llvmlite.binding as llvm

    name, features = os.environ.get("NUMBA_CPU_NAME"), os.environ.get("NUMBA_CPU_FEATURES")
    if features is None:
        features = "" if name == "generic" else llvm.get_host_cpu_features().flatten()
    return Processor(name or llvm.get_host_cpu_name(), features)


def has_features(processor: Processor) -> bool:
    """Whether this machine has every feature of a processor."""
    import llvmlite.binding as llvm

    own = llvm.get_host_cpu_features()
    return all(own.get(feature.removeprefix("+"), False) for feature in processor.features.split(","))
