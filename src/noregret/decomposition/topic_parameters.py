"""Parameters that topic models have, declared in one way."""

from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.rules.parameters import Param

NOT_OF_COUNTS = ("scale", "bits")  # they make other numbers of counts: hashing adds some up with a negative sign
TOPIC_OPTIONS = tuple(name for name in ROW_OPTIONS if name not in NOT_OF_COUNTS)


def topics_param() -> Param:
    """How many topics there are."""
    return Param(20.0, at_least=1.0, at_most=1 << 14, about="the number of topics",
                 untuned="more topics fit better and are harder to read")  # fmt: skip


def prior_param(about: str, default: float = 0.0) -> Param:
    """The parameter of a symmetric Dirichlet distribution."""
    return Param(default, at_least=0.0, search=(0.01, 1.0, "log"), about=about)


def delay_param() -> Param:
    """How slow the first steps are."""
    return Param(1024.0, at_least=0.0, search=(1.0, 1024.0, "log"),
                 about="delay of the rate (tau0 + t)^-kappa of mini-batch t: larger slows down early ones")  # fmt: skip


def decay_param() -> Param:
    """How fast steps become smaller."""
    return Param(0.7, at_least=0.0, at_most=1.0, search=(0.51, 1.0, "linear"),
                 about="how fast the rate falls: above 0.5 it converges, 0 keeps only the last mini-batch")  # fmt: skip


def documents_param() -> Param:
    """The size of the corpus."""
    return Param(0.0, at_least=0.0, at_most=1e12, untuned="it is a fact of the corpus",
                 about="documents of the whole corpus; 0: as many as were seen so far")  # fmt: skip


def tolerance_param(default: float, about: str) -> Param:
    """When inference in a document ends."""
    return Param(default, at_least=0.0, untuned="smaller is more exact and slower", about=about)


def iterations_param() -> Param:
    """The most iterations of inference in a document."""
    return Param(100.0, at_least=1.0, at_most=1e6, untuned="more is more exact and slower",
                 about="the most iterations of inference in a document")  # fmt: skip
