"""Strings: monotone transduction. Every letter of a word writes nothing, one symbol, or one symbol and an inserted one.

Class 0 is "nothing", the others are symbols. The rows of a group are two slots for each letter, one for its symbol and
one for the symbol inserted after it, then the contexts: the start of the output, and every symbol. A part (slot, class)
writes the symbol, or nothing; a letter that writes nothing does not use its second slot. A part (context, class) puts a
symbol after the start or the symbol of the context, and (context, 0) ends the output.

Column TRUTH has 0 in the first row and the symbols of the right output in the next ones. Which letters write them is
not known: `align` finds the best alignment by the current scores and writes it into TRUTH2, a class for every slot. The
loss is the edit distance. The rival with the highest score plus loss is searched among the `LISTED` outputs with the
highest scores, each listed once.
"""

from typing import Any

from noregret.tasks.decoders.layout import CHOSEN, CHOSEN2, LENGTH, TRUTH, TRUTH2, WIDTH

LOWEST = -1e308
LISTED = 5  # outputs among which the rival is searched
SLACK = 1e-9  # for the rounding of scores, relative to the best
WIDEST = 1e300
SILENT, SINGLE, WRITTEN = 0, 1, 2  # a letter writes nothing; nothing is inserted; a symbol is written
MULTIPLIER, MODULUS = 69069.0, 2147483647.0  # of the hash by which equal outputs are told


# ---- the best outputs ------------------------------------------------------------------------------------------------


def search(f: Any, y: Any, work: Any, first: Any, known: Any, augment: Any) -> None:
    """The best output; with `augment`, the one with the highest score plus loss among the best."""
    last, listed = 2 * int(y[first, LENGTH]), LISTED if augment > 0.0 else 1
    ahead, lists = work[: (last + 1) * known], work[(last + 1) * known :]
    look_ahead(f, y, ahead, first, known)
    ending = (last + 1) * known * listed
    gap = SLACK * (1.0 + abs(ahead[0])) + (1.0 if augment > 0.0 else 0.0)
    list_best(f, y, work, first, known, (listed, ahead[0] - gap))
    while lists[3 * (ending + listed - 1)] == LOWEST and gap < WIDEST:
        gap *= 8.0  # fewer outputs than wanted came so close to the best
        list_best(f, y, work, first, known, (listed, ahead[0] - gap))
    choice, best = 0, LOWEST
    for rank in range(listed if augment > 0.0 else 0):
        at = 3 * (ending + rank)
        if lists[at] > LOWEST:
            trace_back(y, lists, first, known * listed, int(lists[at + 1]), listed)
            found = lists[at] + augment * loss(y, first)
            if found > best:
                choice, best = rank, found
    if lists[3 * ending] > LOWEST:
        trace_back(y, lists, first, known * listed, int(lists[3 * (ending + choice) + 1]), listed)
    else:  # an overflow: no output has a score, so no letter writes anything
        for letter in range(last // 2):
            y[first + 2 * letter, CHOSEN], y[first + 2 * letter + 1, CHOSEN] = 0.0, -1.0


def look_ahead(f: Any, y: Any, ahead: Any, first: Any, known: Any) -> None:
    """The best score of what may follow each symbol at each slot, from the end."""
    last = 2 * int(y[first, LENGTH])
    for symbol in range(known):
        ahead[last * known + symbol] = f[first + last + symbol, 0]
    for slot in range(last - 1, -1, -1):
        here, after, end = slot * known, (slot + 1) * known, (slot // 2 + 1) * 2 * known
        skipped = f[first + slot, 0]
        for before in range(known):
            row = first + last + before
            even, odd = ahead[end + before] + skipped, LOWEST
            for symbol in range(2, known, 2):  # two maxima are faster than one
                found = f[row, symbol] + (f[first + slot, symbol] + ahead[after + symbol])
                if found > even:
                    even = found
            for symbol in range(1, known, 2):
                found = f[row, symbol] + (f[first + slot, symbol] + ahead[after + symbol])
                if found > odd:
                    odd = found
            ahead[here + before] = max(even, odd)


def list_best(f: Any, y: Any, work: Any, first: Any, known: Any, wanted: Any) -> None:
    """List the best beginnings of outputs at each slot and symbol, and the best outputs after the last.

    `wanted` is how many, and the least score of an output. Entries have a score, whence they come, and a hash.
    """
    listed, least = wanted
    last, size = 2 * int(y[first, LENGTH]), known * listed
    ahead, lists = work[: (last + 1) * known], work[(last + 1) * known :]
    for cell in range((last + 2) * size):
        lists[3 * cell] = LOWEST
    lists[0] = lists[1] = lists[2] = 0.0
    for slot in range(last):
        end = (slot // 2 + 1) * 2
        skipped = SINGLE if slot % 2 else SILENT
        for entry in range(size):
            at, before = 3 * (slot * size + entry), entry // listed
            if lists[at] > LOWEST:
                score = lists[at] + f[first + slot, 0]
                if score + ahead[end * known + before] >= least:
                    offer(lists, end * size + before * listed, listed, score, skipped * size + entry, lists[at + 2])
                row = first + last + before
                for symbol in range(1, known):
                    score = lists[at] + f[row, symbol] + f[first + slot, symbol]
                    start = (slot + 1) * size + symbol * listed
                    close = score + ahead[(slot + 1) * known + symbol] >= least
                    if close and score > lists[3 * (start + listed - 1)]:
                        hashed = (lists[at + 2] * MULTIPLIER + symbol) % MODULUS
                        offer(lists, start, listed, score, WRITTEN * size + entry, hashed)
    for entry in range(size):
        at = 3 * (last * size + entry)
        if lists[at] > LOWEST:
            score = lists[at] + ahead[last * known + entry // listed]
            offer(lists, (last + 1) * size, listed, score, entry, lists[at + 2])


def offer(lists: Any, start: Any, listed: Any, score: Any, back: Any, hashed: Any) -> None:
    """Enter an output into a list that is sorted by score, unless it is there with a score as high."""
    if score <= lists[3 * (start + listed - 1)]:
        return
    rank = listed - 1
    for other in range(listed):
        at = 3 * (start + other)
        if lists[at] > LOWEST and lists[at + 2] == hashed:
            if lists[at] >= score:
                return
            rank = other
            break
    while rank > 0 and lists[3 * (start + rank - 1)] < score:
        for field in range(3):
            lists[3 * (start + rank) + field] = lists[3 * (start + rank - 1) + field]
        rank -= 1
    at = 3 * (start + rank)
    lists[at], lists[at + 1], lists[at + 2] = score, back, hashed


def trace_back(y: Any, lists: Any, first: Any, size: Any, entry: Any, listed: Any) -> None:
    """Write an output, from its end; -1 where a letter does not use its second slot."""
    layer = 2 * int(y[first, LENGTH])
    while layer > 0:
        back = int(lists[3 * (layer * size + entry) + 1])
        kind, before = back // size, back % size
        layer -= 1
        if kind == WRITTEN:
            y[first + layer, CHOSEN] = entry // listed
        elif kind == SINGLE:
            y[first + layer, CHOSEN] = 0.0
        else:
            y[first + layer, CHOSEN] = -1.0
            layer -= 1
            y[first + layer, CHOSEN] = 0.0
        entry = before


def scratch(rows: int, length: int, width: int) -> int:
    searching = (2 * length + 1) * width + 6 * (length + 1) * width * LISTED
    return max(searching, 3 * (length + 1) * (2 * length + 1))


# ---- the right output ------------------------------------------------------------------------------------------------


def align(f: Any, y: Any, work: Any, first: Any) -> None:
    """Write the best alignment of the right output; of equal ones, that closest to the diagonal.

    The contexts are those of the output, whatever its alignment, so they do not count.
    """
    length, symbols = int(y[first, LENGTH]), count_symbols(y, first)
    width = symbols + 1
    for i in range(length + 1):
        for j in range(width):
            cell = 3 * (i * width + j)
            work[cell], work[cell + 2] = LOWEST, min(j, 2)  # the latter leads to an alignment also after an overflow
    work[0] = work[1] = 0.0
    for i in range(1, length + 1):
        slot = first + 2 * (i - 1)
        for j in range(width):
            cell = 3 * (i * width + j)
            off = abs(j * length - i * symbols)
            for written in (1, 0, 2):
                at = cell - 3 * (width + written)
                if written <= j and work[at] > LOWEST:
                    score, deviation = work[at], work[at + 1] + off
                    if written == 0:
                        score += f[slot, 0]
                    elif written == 1:
                        score += f[slot, int(y[first + j, TRUTH])] + f[slot + 1, 0]
                    else:
                        score += f[slot, int(y[first + j - 1, TRUTH])] + f[slot + 1, int(y[first + j, TRUTH])]
                    if score > work[cell] or (score == work[cell] and deviation < work[cell + 1]):
                        work[cell], work[cell + 1], work[cell + 2] = score, deviation, written
    j = symbols
    for i in range(length, 0, -1):
        slot, written = first + 2 * (i - 1), int(work[3 * (i * width + j) + 2])
        j -= written
        y[slot, TRUTH2], y[slot + 1, TRUTH2] = 0.0, -1.0
        if written > 0:
            y[slot, TRUTH2] = y[first + j + 1, TRUTH]
            y[slot + 1, TRUTH2] = y[first + j + 2, TRUTH] if written > 1 else 0.0


def count_symbols(y: Any, first: Any) -> Any:
    """How many symbols the right output has."""
    found = 0
    while found < 2 * int(y[first, LENGTH]) and y[first + found + 1, TRUTH] > 0.0:
        found += 1
    return found


# ---- parts and loss --------------------------------------------------------------------------------------------------


def tally(y: Any, counts: Any, first: Any, column: Any, a: Any) -> None:
    """Add a to the count of every part of an output; the right one by its alignment."""
    last, width = 2 * int(y[first, LENGTH]), int(y[first, WIDTH])
    codes = TRUTH2 if column == TRUTH else column
    context = last
    for slot in range(last):
        symbol = int(y[first + slot, codes])
        if symbol >= 0:
            counts[slot * width + symbol] += a
        if symbol > 0:
            counts[context * width + symbol] += a
            context = last + symbol
    counts[context * width] += a


def loss(y: Any, first: Any) -> Any:
    """The edit distance of the output chosen and the right one; column CHOSEN2 is the scratch."""
    symbols = count_symbols(y, first)
    for j in range(symbols + 1):
        y[first + j, CHOSEN2] = j
    for slot in range(2 * int(y[first, LENGTH])):
        symbol = y[first + slot, CHOSEN]
        if symbol > 0.0:
            corner = y[first, CHOSEN2]
            y[first, CHOSEN2] = corner + 1.0
            for j in range(1, symbols + 1):
                above = y[first + j, CHOSEN2]
                found = min(above, y[first + j - 1, CHOSEN2]) + 1.0
                change = corner if y[first + j, TRUTH] == symbol else corner + 1.0
                y[first + j, CHOSEN2] = min(found, change)
                corner = above
    return y[first + symbols, CHOSEN2]
