"""Words of a text, as BLEU counts them: the tokens of mteval-v13a, the standard of machine translation."""

import re
from functools import lru_cache

ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
SYMBOL = re.compile(r"([!-&(-+/:-@\[-`{-~])")  # of ASCII; not the apostrophe, comma, hyphen and full stop
AFTER_OTHER = re.compile(r"([^0-9])([.,])")  # a comma between digits belongs to the number
BEFORE_OTHER = re.compile(r"([.,])([^0-9])")
DASH_AFTER_DIGIT = re.compile(r"([0-9])(-)")


@lru_cache(maxsize=1 << 15)
def split_words(text: str) -> tuple[str, ...]:
    """The words and punctuation marks of a text."""
    text = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, letter in ENTITIES:
        text = text.replace(entity, letter)
    text = SYMBOL.sub(r" \1 ", f" {text} ")
    text = AFTER_OTHER.sub(r"\1 \2 ", text)
    text = BEFORE_OTHER.sub(r" \1 \2", text)
    return tuple(DASH_AFTER_DIGIT.sub(r"\1 \2 ", text).split())
