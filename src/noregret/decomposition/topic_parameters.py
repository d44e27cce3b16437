"""Parameters that topic models have, declared in one way."""

from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.decomposition.word_filter import STOP_WORDS
from noregret.rules.parameters import Choice, Param

LEAST_ALPHA = 1e-6  # of topics in a document; 1 / alpha must be a float
LEAST_ETA = 0.002  # below it, exp(E log beta) of a word that was never seen is too small for a float
NOT_OF_COUNTS = ("scale", "bits")  # they make other numbers of counts: hashing adds some up with a negative sign
TOPIC_OPTIONS = tuple(name for name in ROW_OPTIONS if name not in NOT_OF_COUNTS)


FILTER: dict[str, Param | Choice] = {
    "stop_words": Choice("none", STOP_WORDS, "words to leave out, of documents that are not matrices",
                         search=("none",)),
    "least_documents": Param(1.0, at_least=1.0, at_most=1e9, about="a word is learned from so many documents on that "
                             "have it", untuned="it drops rare words"),
    "most_share": Param(1.0, above=0.0, at_most=1.0, about="a word in more than this share of the documents so far is "
                        "left out", untuned="it drops frequent words"),
}  # fmt: skip
"""Which words of named documents are learned."""


def topics_param() -> Param:
    """How many topics there are."""
    return Param(20.0, at_least=1.0, at_most=1 << 14, about="the number of topics",
                 untuned="more topics fit better and are harder to read")  # fmt: skip


def prior_param(about: str) -> Param:
    """The parameter of a symmetric Dirichlet distribution."""
    return Param(0.0, at_least=0.0, at_most=1e6, search=(0.01, 1.0, "log"), about=about)


def delay_param() -> Param:
    """How slow the first steps are."""
    return Param(64.0, at_least=0.0, search=(1.0, 1024.0, "log"),
                 about="delay of the rate (tau0 + t)^-kappa of mini-batch t: larger slows down early ones")  # fmt: skip


def decay_param() -> Param:
    """How fast steps become smaller."""
    return Param(0.7, at_least=0.0, at_most=1.0, search=(0.51, 1.0, "linear"),
                 about="how fast the rate falls: above 0.5 it converges, 0 keeps only the last mini-batch")  # fmt: skip


def documents_param() -> Param:
    """The size of the corpus."""
    return Param(0.0, at_least=0.0, at_most=1e12, untuned="it is a fact of the corpus",
                 about="documents of the whole corpus; 0: 10,000, or as many as were seen so far")  # fmt: skip


def tolerance_param(default: float, about: str) -> Param:
    """When inference in a document ends."""
    return Param(default, at_least=0.0, untuned="smaller is more exact and slower", about=about)


def iterations_param() -> Param:
    """The most iterations of inference in a document."""
    return Param(100.0, at_least=1.0, at_most=1e6, untuned="more is more exact and slower",
                 about="the most iterations of inference in a document")  # fmt: skip


def truncation_param() -> Param:
    """The most topics of a corpus."""
    return Param(150.0, at_least=2.0, at_most=1 << 14, about="the most topics; how many are used follows the documents",
                 untuned="more topics cost more")  # fmt: skip


def slots_param() -> Param:
    """The most topics of a document."""
    return Param(15.0, at_least=2.0, at_most=1 << 10, about="the most topics in one document",
                 untuned="more topics cost more")  # fmt: skip


def weight_param(default: float, about: str) -> Param:
    """The concentration of a Dirichlet process."""
    return Param(default, at_least=LEAST_ALPHA, at_most=1e6, search=(0.1, 10.0, "log"), about=about)


def words_param() -> Param:
    """The prior of words in a topic."""
    return Param(0.05, at_least=LEAST_ETA, search=(0.01, 1.0, "log"), about="the prior of words in a topic")


def stick_delay_param() -> Param:
    """How slow the first steps are."""
    return Param(16.0, at_least=0.0, search=(1.0, 64.0, "log"),
                 about="delay of the rate (tau + 1 + t)^-kappa of mini-batch t, which counts from 0")  # fmt: skip


def stick_decay_param() -> Param:
    """How fast steps become smaller."""
    return Param(0.7, at_least=0.0, at_most=1.0, search=(0.51, 1.0, "linear"),
                 about="how fast the rate falls: above 0.5 it converges")  # fmt: skip


def start_choice() -> Choice:
    """Where inference in a document starts."""
    return Choice("topics", {"topics": False, "uniform": True}, "where inference in a document starts: from the topics "
                  "that have most of its words, once topics are learned, or always from equal shares, as in the paper",
                  search=("topics",))  # fmt: skip
