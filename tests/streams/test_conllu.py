"""CoNLL-U files and tables of tokens are read as sentences; an error names file, line and sentence."""

import gzip
import itertools
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from noregret.data.sentences import Sentence, check_tree, find_cycle, is_projective
from noregret.errors import BadValue
from noregret.streams import conllu
from noregret.streams.conllu import Columns, read_blocks, read_sentences
from noregret.streams.conllu_output import write_conllu

TEXT = """\
# newdoc id = letters
# sent_id = letters-1
# text = Don't vámonos!
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tvámonos\tir\tVERB\tVB\tMood=Imp\t0\troot\t0:root\tSpaceAfter=No
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t3:conj\t_
4\t!\t!\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_

# sent_id = letters-2
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t0:root\t_
"""
UNTAGGED = "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n"


@pytest.fixture
def given(tmp_path: Path) -> Callable[..., str]:
    def write(text: str | bytes, name: str = "t.conllu") -> str:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return str(path)

    return write


def token(number: object, head: object = 0, word: str = "w") -> str:
    return f"{number}\t{word}\t_\tX\tX\t_\t{head}\tdep\t_\t_\n"


def test_words_tags_heads_and_relations_are_read_and_other_nodes_skipped(given: Callable[..., str]) -> None:
    path = given(TEXT)
    first, second = read_sentences(path)
    assert first.words == ("Do", "n't", "vámonos", "!")
    assert first.upos == ("AUX", "PART", "VERB", "PUNCT")
    assert first.xpos == ("VB", "RB", "VB", ".")
    assert first.heads == (3, 3, 0, 3)
    assert first.relations == ("aux", "advmod", "root", "punct")
    assert (first.id, first.line, first.number, len(first)) == ("letters-1", 1, 1, 4)
    assert (second.id, second.line, second.number, second.words) == ("letters-2", 11, 2, ("Yes",))
    assert second.place == f"{path}:11: sentence 2 (letters-2)"
    assert first.lines is None


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, lambda data: data.replace(b"\n", b"\r\n")])
def test_compression_and_windows_line_ends_change_nothing(
    given: Callable[..., str], pack: Callable[[bytes], bytes]
) -> None:
    plain = [(one.words, one.relations, one.id, one.line) for one in read_sentences(given(TEXT))]
    packed = read_sentences(given(pack(TEXT.encode()), "packed"))
    assert [(one.words, one.relations, one.id, one.line) for one in packed] == plain


def test_a_byte_order_mark_is_no_part_of_the_first_token(given: Callable[..., str]) -> None:
    assert next(read_sentences(given("\ufeff" + token(1)))).words == ("w",)


def test_annotation_that_is_not_there_is_none(given: Callable[..., str]) -> None:
    (one,) = read_sentences(given(UNTAGGED))
    assert one.words == ("a", "b")
    assert one.upos is None
    assert one.xpos is None
    assert one.heads is None
    assert one.relations is None


def test_sentences_come_before_a_later_error(given: Callable[..., str]) -> None:
    rest = read_sentences(given(TEXT + "\nbroken\n"))
    assert [next(rest).number, next(rest).number] == [1, 2]
    with pytest.raises(BadValue, match=r"t.conllu:14: sentence 3: the line 'broken' has 1 column; CoNLL-U has 10"):
        next(rest)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# sent_id = s\n# text = nothing\n\n", r":1: sentence 1 \(s\): has no tokens"),
        ("1-2\tab" + "\t_" * 8 + "\n\n", ":1: sentence 1: has no tokens"),
        (token(1) + "\n" + token(1, 2), ":3: sentence 2: the head of word 1 is 2, outside the sentence of 1 words"),
        (token(1, -1), ":1: sentence 1: the head '-1' is not a number"),
        (token(1, "²"), "the head '²' is not a number"),
        (token(1, "9" * 5000), "is not a number"),
        (token(1) + token(3), ":2: sentence 1: token '3' stands where token 2 should be"),
        (token(1) + token(1), ":2: sentence 1: token '1' stands where token 2 should be"),
        (token("x"), "token 'x' stands where token 1 should be"),
        (token(1) + token(2, "_"), ":1: sentence 1: word 2 has no head, but others have"),
        (token(1, word=""), "token 1 has no word"),
        (token(1) + "2\ta\tb\n", ":2: sentence 1: the line has 3 columns; CoNLL-U has 10"),
        (token(1).rstrip("\n") + "\textra\n", ":1: sentence 1: the line has 11 columns"),
        (token(1).encode() + b"2\t\xff\xfe\n", ":2: sentence 1: byte 3 of the line is not UTF-8"),
        ("\n\n  \n", "has no sentences"),
        ("", "is empty"),
    ],
)
def test_an_error_names_file_line_and_sentence(given: Callable[..., str], text: str | bytes, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        list(read_sentences(given(text)))


def test_endless_lines_and_sentences_are_refused(given: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conllu, "LONGEST_LINE", 100)
    with pytest.raises(BadValue, match=r"t.conllu:2: the line is longer than 100 bytes"):
        list(read_sentences(given(token(1) + "x" * 200)))
    monkeypatch.setattr(conllu, "MOST_LINES", 3)
    with pytest.raises(BadValue, match=r"t.conllu:2: sentence 1: is longer than 3 lines; an empty line must follow"):
        list(read_sentences(given("\n" + "# comment\n" * 4 + token(1))))


def test_tables_are_read_by_the_numbers_of_their_columns(given: Callable[..., str]) -> None:
    path = given("#\tSYM\tO\nParis\tPROPN\tB-LOC\n\n\nin\tADP\tO\n", "t.tsv")
    first, second = read_sentences(path, Columns(word=1, tag=3))
    assert first.words == ("#", "Paris")
    assert first.upos == ("O", "B-LOC")
    assert first.heads is None
    assert second.words == ("in",)
    assert second.number == 2
    assert second.line == 5
    assert [one.upos for one in read_sentences(path, Columns(word=1, tag=None))] == [None, None]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("a\tX\n\nb\n", Columns(), ":3: sentence 2: the line 'b' has 1 column, but column 2 was asked for"),
        ("a\tX\nb\t\n", Columns(), ":2: sentence 1: column 2 is empty"),
        ("\tX\n", Columns(), ":1: sentence 1: column 1 is empty"),
        ("a\tX\n", Columns(0, 1), "counted from 1 and must differ"),
        ("a\tX\n", Columns(2, 2), "counted from 1 and must differ"),
    ],
)
def test_an_error_in_a_table_names_its_column(
    given: Callable[..., str], text: str, columns: Columns, message: str
) -> None:
    with pytest.raises(BadValue, match=message):
        list(read_sentences(given(text, "t.tsv"), columns))


def test_blocks_hold_all_sentences_in_order(given: Callable[..., str]) -> None:
    path = given((token(1) + "\n") * 7)
    blocks = list(read_blocks(read_sentences(path), 3))
    assert [[one.number for one in block] for block in blocks] == [[1, 2, 3], [4, 5, 6], [7]]


def try_to_read(path: str, columns: Columns | None) -> tuple[list[Sentence], str]:
    try:
        return list(read_sentences(path, columns)), ""
    except BadValue as error:
        return [], str(error)


def test_whatever_bytes_are_read_the_error_is_ours(given: Callable[..., str]) -> None:
    rng, data, refused = random.Random(5), TEXT.encode(), 0
    for _ in range(400):
        broken = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(broken))
            kind = rng.randrange(3)
            if kind == 0:
                broken[at] = rng.choice([0, 9, 10, 13, 32, 35, 45, 46, 48, 57, 95, 128, 255, rng.randrange(256)])
            elif kind == 1:
                del broken[at : at + rng.randint(1, 9)]
            else:
                broken[at:at] = rng.choice([b"\t", b"\n", b"1", b"\xe2\x80\xa8", b"\n\n", b"#"])
        for columns in (None, Columns(2, 4)):
            path = given(bytes(broken))
            sentences, fault = try_to_read(path, columns)
            refused += bool(fault)
            assert not fault or fault.startswith(path)
            for one in sentences:
                assert len(one) > 0
                assert all(one.words)
                assert one.heads is None or all(0 <= head <= len(one) for head in one.heads)
    assert refused > 100


def test_what_is_written_is_read_again_and_only_the_annotation_differs(given: Callable[..., str]) -> None:
    first, second = read_sentences(given(TEXT), keep_lines=True)
    assert write_conllu(first) + write_conllu(second) == TEXT + "\n"
    changed = write_conllu(first, heads=(2, 0, 2, 2), relations=("a", "root", "b", "c"), upos=("A", "B", "C", "D"))
    (again,) = read_sentences(given(changed), keep_lines=True)
    assert again.heads == (2, 0, 2, 2)
    assert again.relations == ("a", "root", "b", "c")
    assert again.upos == tuple("ABCD")
    assert again.id == first.id
    assert again.words == first.words
    assert again.xpos == first.xpos
    assert again.lines is not None
    assert first.lines is not None
    assert again.lines[:4] == first.lines[:4]
    assert again.lines[6] == "3\tvámonos\tir\tC\tVB\tMood=Imp\t2\tb\t_\tSpaceAfter=No"


def test_a_sentence_of_a_program_is_written_whole(given: Callable[..., str]) -> None:
    made = Sentence(words=("a\tb", "c"), upos=("X", "Y"), heads=(2, 0), relations=("dep", "root"), id="mine")
    (read,) = read_sentences(given(write_conllu(made)))
    assert read.words == ("a b", "c")
    assert read.heads == (2, 0)
    assert read.upos == ("X", "Y")
    assert read.id == "mine"


def test_a_tree_is_told_from_what_is_none() -> None:
    check_tree((2, 0, 2), "s")
    for heads, message in {
        (): "s: the sentence has no words",
        (2, 1): "s: no word has head 0",
        (0, 0): "words 1 and 2 both have head 0",
        (0, 3, 2): "s: the heads form a cycle, 2 -> 3 -> 2",
        (0, 2): "cycle, 2 -> 2",
        (0, 3): "the head of word 2 is 3, outside",
        (0, -1): "the head of word 2 is -1, outside",
    }.items():
        with pytest.raises(BadValue, match=message):
            check_tree(heads, "s")


def test_cycles_are_found_wherever_they_are() -> None:
    rng = random.Random(2)
    cyclic = 0
    for _ in range(300):
        n = rng.randint(1, 7)
        heads = [rng.randint(0, n) for _ in range(n)]
        reached = {0}
        for _ in range(n):
            reached |= {word for word in range(1, n + 1) if heads[word - 1] in reached}
        cycle = find_cycle(heads)
        assert bool(cycle) == (len(reached) <= n)
        cyclic += bool(cycle)
        assert all(heads[a - 1] == b for a, b in itertools.pairwise(cycle))
        assert not cycle or cycle[0] == cycle[-1]
    assert 50 < cyclic < 250


def test_crossing_arcs_are_not_projective() -> None:
    assert is_projective((2, 0, 2, 3))
    assert not is_projective((3, 4, 0, 3))
    assert not is_projective((3, 0, 2))  # the arc 3 -> 1 passes over the root word
