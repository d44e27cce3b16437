"""Sentences and dependency trees as a caller gives them, checked."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noregret.data.labels import check_label
from noregret.data.sentences import Sentence, check_tree
from noregret.errors import BadValue, shown

LONGEST = 500  # words: a sentence of L words has L * L arcs
Tree = tuple[list[int], list[Any] | None]  # heads, and relations if they are known


def check_sentence(given: Any, number: int) -> list[Mapping[str, Any]]:
    """The words of a sentence as dicts with a word, a tag and whatever else templates name."""
    if isinstance(given, Sentence):
        tokens: list[Any] = tokens_of(given, number)
    elif isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Sequence):
        raise BadValue(f"sentence {number}: a sentence is a list of words with tags, not {shown(given)}", row=number)
    else:
        tokens = [check_token(token, number) for token in given]
    if not tokens:
        raise BadValue(f"sentence {number}: it has no tokens; leave it out", row=number)
    if len(tokens) > LONGEST:
        raise BadValue(
            f"sentence {number}: it has {len(tokens):,} words, more than the {LONGEST} that the parser takes; split it",
            row=number,
        )
    return tokens


def tokens_of(sentence: Sentence, number: int) -> list[Mapping[str, Any]]:
    """The words of a sentence that was read from a file."""
    if sentence.upos is None and sentence.xpos is None:
        raise BadValue(f"sentence {number}: its words have no tags, which the parser needs; tag it first", row=number)
    upos = sentence.upos or sentence.xpos or ()
    xpos = sentence.xpos or upos
    return [
        {"word": word, "tag": tag, "fine": fine}
        for word, tag, fine in zip(sentence.words, upos, xpos, strict=True)
    ]  # fmt: skip


def check_token(token: Any, number: int) -> Mapping[str, Any]:
    """A word with its tag as a dict."""
    if isinstance(token, Mapping):
        if isinstance(token.get("word"), str):
            return token
    elif isinstance(token, (tuple, list)) and len(token) == 2 and all(isinstance(one, str) for one in token):
        return {"word": token[0], "tag": token[1]}
    raise BadValue(
        f"sentence {number}: a word is a pair (word, tag) or a dict with word and tag, not {shown(token)}", row=number
    )


def check_output(given: Any, length: int, number: int) -> Tree:
    """The heads of a sentence, which must form a tree, and the relations if they are given."""
    if isinstance(given, Sentence):
        given = tree_of(given, number)
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, (Sequence, np.ndarray)):
        raise BadValue(f"sentence {number}: its tree is a list of heads, not {shown(given)}", row=number)
    if len(given) != length:
        raise BadValue(f"sentence {number}: it has {length} words and {len(given)} heads; they must match", row=number)
    paired = [isinstance(one, (tuple, list)) and len(one) == 2 for one in given]
    if any(paired) and not all(paired):
        raise BadValue(f"sentence {number}: give a relation with all heads or with none", row=number)
    try:
        heads = [check_head(one[0] if all(paired) else one) for one in given]
        check_tree(heads, f"sentence {number}")
        return heads, [check_label(one[1]) for one in given] if all(paired) else None
    except BadValue as error:
        text = str(error)
        where = "" if text.startswith("sentence ") else f"sentence {number}: "
        raise BadValue(f"{where}{text}", row=number) from None


def check_head(head: Any) -> int:
    if isinstance(head, (bool, np.bool_)) or not isinstance(head, (int, np.integer)):
        raise BadValue(f"a head is 0 or the number of a word, not {shown(head)}")
    return int(head)


def tree_of(sentence: Sentence, number: int) -> list[Any]:
    """The tree of a sentence that was read from a file."""
    if sentence.heads is None:
        raise BadValue(f"sentence {number}: its words have no heads; give annotated sentences", row=number)
    if sentence.relations is None:
        return list(sentence.heads)
    return list(zip(sentence.heads, sentence.relations, strict=True))
