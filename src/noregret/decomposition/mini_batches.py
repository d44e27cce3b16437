"""How many rows are learned together where that is not given: as many as cost least."""

from noregret.decomposition.parameters import MOST_ROWS
from noregret.rules.parameters import Param

FEW = 16  # rows, from which there is something to tell of those that come
FOR_EACH_FEATURE = 5  # rows; with more of them the decomposition costs less than making a triangle of the rows
MOST_NUMBERS = 1 << 24  # of a mini-batch of few features
NARROW, NARROW_FOR_RANK = 300, 4  # features for which large mini-batches are quicker than small ones, by measurement


def free_batch_param() -> Param:
    """How many rows are learned together; 0 for `quickest_batch`."""
    return Param(0.0, at_least=0.0, at_most=MOST_ROWS,
                 about="rows that are learned together (mini-batch); 0: 5 for each feature or, with more than "
                       "300 + 4 rank features, as many as the rank, at least 16",
                 untuned="larger mini-batches are faster, and losses are by an older state")  # fmt: skip


def quickest_batch(features: int, rank: int) -> int:
    """How many rows together take the least time for each.

    A decomposition of few features is made from a triangle, which all rows of a mini-batch share. One of many features
    costs about the same for every row as soon as a mini-batch has as many rows as there are components.
    """
    narrow = features <= NARROW + NARROW_FOR_RANK * rank
    most = min(FOR_EACH_FEATURE * features, MOST_NUMBERS // max(features, 1)) if narrow else rank
    return min(MOST_ROWS, max(FEW, most))


def early_look(learned: int, waiting: int) -> int:
    """How many of the rows that wait score the next row: 16, 32, 64, ..., as long as none or few were learned."""
    looked = FEW << (waiting // FEW).bit_length() - 1 if waiting >= FEW else 0
    return looked if looked >= learned else 0


def next_look(learned: int, waiting: int) -> int:
    """How many rows wait when more of them score the next row."""
    looked = FEW
    while looked <= waiting or looked < learned:
        looked *= 2
    return looked


def part_ends(count: int) -> list[int]:
    """Where parts of so many rows end: parts of 2^k rows, the largest first, and at last one of fewer than 16."""
    ends = [count >> bit << bit for bit in reversed(range(count.bit_length())) if count >> bit & 1]
    full = [end for end in ends if end % FEW == 0]
    return [*full, count] if count % FEW else full
