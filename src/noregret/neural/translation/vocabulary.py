"""The subword vocabulary of a translator: byte-pair encoding by sentencepiece, shared by both languages.

A character that it does not know becomes its bytes, so every sentence has pieces, and they give it back.
"""

import io
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.cached_property import cached_property
from noregret.errors import BadValue, import_extra, shown
from noregret.learner.header_fields import corrupt

PAD, UNKNOWN, BEGIN, END = range(4)
BYTES = 256
SPACE = "\u2581"  # how sentencepiece marks the beginning of a word
LONGEST_LINE = 16384  # bytes of a sentence that a vocabulary learns from


def sentencepiece() -> Any:
    return import_extra("sentencepiece", "translation", "translating")


class Vocabulary:
    """Pieces of words, and sentences as their numbers."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        try:
            self.processor = sentencepiece().SentencePieceProcessor(model_proto=content)
        except (RuntimeError, ValueError, TypeError, OSError) as error:
            raise BadValue(f"this is no vocabulary of sentencepiece ({shown(str(error))})") from None
        marks = [getattr(self.processor, f"{name}_id")() for name in ("pad", "unk", "bos", "eos")]
        if marks != [PAD, UNKNOWN, BEGIN, END]:
            raise BadValue("the vocabulary must number its marks pad, unk, bos, eos from 0 to 3")
        self.size = int(self.processor.get_piece_size())

    @classmethod
    def learn(cls, sentences: Iterable[str], size: int = 4000) -> "Vocabulary":
        """A vocabulary of so many pieces for sentences like these."""
        out = io.BytesIO()
        lines = [clean(one) for one in sentences]
        try:
            sentencepiece().SentencePieceTrainer.train(
                sentence_iterator=iter(lines), model_writer=out, vocab_size=size, model_type="bpe", byte_fallback=True,
                character_coverage=1.0, normalization_rule_name="identity", num_threads=1, minloglevel=2,
                pad_id=PAD, unk_id=UNKNOWN, bos_id=BEGIN, eos_id=END, max_sentence_length=LONGEST_LINE,
                hard_vocab_limit=False,
            )  # fmt: skip
        except (RuntimeError, ValueError) as error:
            raise BadValue(f"no vocabulary of {size} pieces can be learned from these sentences: {error}") from None
        return cls(out.getvalue())

    def encode(self, sentence: str) -> list[int]:
        """The pieces of a sentence, without marks."""
        found: list[int] = self.processor.encode(clean(sentence))
        return found

    def decode(self, pieces: Sequence[int]) -> str:
        """The sentence of some pieces, with single spaces; marks are left out."""
        return " ".join(self.processor.decode([one for one in pieces if one > END]).split())

    def piece(self, number: int) -> str:
        return str(self.processor.id_to_piece(number))

    @cached_property
    def may_follow_word(self) -> NDArray[np.bool_]:
        """Which pieces may follow a word that is complete: those that begin another, and the end."""
        return np.array([number == END or self.piece(number).startswith(SPACE) for number in range(self.size)])

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.content, np.uint8)

    @classmethod
    def restore(cls, array: NDArray[Any], size: int) -> "Vocabulary":
        """The vocabulary of a model file, which must have as many pieces as the model."""
        if array.dtype != np.uint8 or array.ndim != 1:
            raise corrupt("the vocabulary must be bytes")
        try:
            found = cls(array.tobytes())
        except BadValue as error:
            raise corrupt(str(error)) from None
        if found.size != size:
            raise corrupt(f"the vocabulary has {found.size} pieces, its network {size}")
        return found

    def __deepcopy__(self, memo: Any) -> "Vocabulary":
        return self  # it never changes


def clean(sentence: str) -> str:
    """One line, with single spaces, and composed characters (NFC) so that equal texts have equal pieces.

    The mark by which sentencepiece begins a word is a space, too.
    """
    if not isinstance(sentence, str):
        raise BadValue(f"a sentence must be a string, not {shown(sentence)}")
    return " ".join(unicodedata.normalize("NFC", sentence).replace(SPACE, " ").split())
