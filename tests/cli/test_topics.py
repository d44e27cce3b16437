"""`noregret topics`: documents in, topics out."""

import contextlib
import io
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import noregret as nr
from noregret.cli import main, topics
from noregret.cli.screen import Screen
from noregret.decomposition.topic_model import TopicModel
from noregret.evaluation.topic_history import TopicHistory

PETS = ["The cat chased a mouse and the dog barked", "Dogs and cats sleep; a mouse hides", "My dog chased the cat"]
MONEY = ["Stocks fell while bond markets rallied", "Markets closed higher as stocks rose", "Bond stocks rally markets"]
TEXTS = [text for number in range(20) for text in (PETS[number % 3], MONEY[number % 3])]
FAST = ["--set", "batch=8", "--set", "tau0=1", "--set", "documents=40", "--k", "2", "--quiet"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps({"id": number, "body": text}) + "\n" for number, text in enumerate(TEXTS)))
    return path


def run(capsys: Any, *arguments: Any) -> tuple[int, str, str]:
    code = main(["topics", *map(str, arguments)])
    out, err = capsys.readouterr()
    return code, out, err


def read_report(path: Path) -> Any:
    return json.loads(path.read_text())


def test_topics_are_printed_with_words_and_shares_over_time(table: Path, capsys: Any) -> None:
    code, out, _ = run(capsys, table, *FAST)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split() == ["topic", "share", "over", "time", "words"]
    assert len(lines) == 4
    topics = [set(line.split()[4:]) for line in lines[1:3]]
    assert any("stocks" in words and "cat" not in words for words in topics)
    assert not any({"the", "and", "my"} & words for words in topics)
    assert "perplexity" in lines[3]
    assert "40 documents" in lines[3]


def test_on_a_terminal_of_80_columns_topics_have_as_many_words_as_fit(
    table: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rich = pytest.importorskip("rich.console")
    console, drawn = rich.Console(width=80, record=True, file=io.StringIO()), list[Any]()
    screen: Any = Screen(quiet=False)
    screen.is_live, screen.due, screen.live = True, lambda: True, contextlib.nullcontext
    screen._drawing = SimpleNamespace(console=console, update=lambda drawing, refresh: drawn.append(drawing))
    monkeypatch.setattr(topics, "Screen", lambda *_, **__: screen)
    assert run(capsys, table, *FAST)[0] == 0
    console.print(drawn[-1])
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    assert len(lines) == 4
    assert lines[1].split() == ["topic", "share", "over", "time", "words"]
    assert all(len(line) <= 80 and len(line.split()) >= 6 for line in lines[2:])


def test_text_columns_are_found_or_named_and_all_formats_give_the_same(
    table: Path, tmp_path: Path, capsys: Any
) -> None:
    lines, csv = tmp_path / "news.txt", tmp_path / "news.csv"
    lines.write_text("".join(f"{text}\n" for text in TEXTS))
    csv.write_text("id,body\n" + "".join(f'{number},"{text}"\n' for number, text in enumerate(TEXTS)))
    reports = []
    inputs: list[list[Any]] = [[table], [table, "--text", "body"], [lines], [csv]]
    for number, arguments in enumerate(inputs):
        target = tmp_path / f"{number}.json"
        assert run(capsys, *arguments, *FAST, "--json", target)[0] == 0
        reports.append(read_report(target))
    assert all(report["topics"] == reports[0]["topics"] for report in reports)
    report = reports[0]
    assert report["documents"] == 40
    assert sum(topic["share"] for topic in report["topics"]) == pytest.approx(1.0)
    assert report["history"][-1]["documents"] == 40
    assert sum(report["history"][0]["shares"]) == pytest.approx(1.0)
    assert report["perplexity"] > 1.0


def test_the_command_learns_as_the_library_does(table: Path, tmp_path: Path, capsys: Any) -> None:
    target = tmp_path / "r.json"
    run(capsys, table, *FAST, "--json", target)
    learner: Any = nr.make("lda", k=2, batch=8, tau0=1, documents=40, stop_words="english", least_documents=2,
                           most_share=0.5)  # fmt: skip
    words = list(dict.fromkeys(word for text in TEXTS for word in re.findall(r"\w\w+", text.lower())))
    counts = [re.findall(r"\w\w+", text.lower()) for text in TEXTS]
    learner.learn([{word: one.count(word) for word in words if word in one} for one in counts])  # in order of the file
    found = [[word["word"] for word in topic["words"]] for topic in read_report(target)["topics"]]
    assert found == [[word for word, _ in topic.words] for topic in learner.topics(10)]


def test_an_interrupted_run_goes_on_where_it_stopped(table: Path, tmp_path: Path, capsys: Any) -> None:
    whole, model, plot = tmp_path / "whole.nr", tmp_path / "part.nr", tmp_path / "shares.svg"
    assert run(capsys, table, *FAST, "--save", whole)[0] == 0
    assert run(capsys, table, *FAST, "--save", model, "--limit", 23)[0] == 0
    assert run(capsys, table, "--resume", model, "--quiet", "--plot", plot)[0] == 0
    one, other = (nr.load(path) for path in (whole, model))
    assert isinstance(one, TopicModel)
    assert isinstance(other, TopicModel)
    assert one.rounds == other.rounds == 40
    assert one.topics(5) == other.topics(5)
    assert plot.read_text().startswith("<?xml")
    code, _, err = run(capsys, table, "--resume", model, "--k", 3)
    assert (code, "--k is for a new model" in err) == (2, True)


def test_a_reader_that_starts_in_the_middle_leads_to_the_same_topics(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Its words come in another order; topics start from draws by the number of a word."""
    path, whole, model = tmp_path / "news.jsonl", tmp_path / "whole.nr", tmp_path / "part.nr"
    texts = [f"apple zebra new{number} old{number}" for number in range(6)]
    texts += [f"zebra apple old{number} new{number}" for number in range(6)]  # of a word that two documents have
    path.write_text("".join(json.dumps({"body": text}) + "\n" for text in texts))
    options = [
        "--set",
        "batch=2",
        "--set",
        "documents=20",
        "--set",
        "tau0=1",
        "--k",
        "2",
        "--most-share",
        "1",
        "--quiet",
    ]
    assert run(capsys, path, *options, "--save", whole)[0] == 0
    batches = iter([None, KeyboardInterrupt])

    def interrupt() -> None:
        if (error := next(batches, None)) is not None:
            raise error

    monkeypatch.setattr("noregret.streams.jsonl.ROWS", 6)
    with monkeypatch.context() as patched:
        patched.setattr("noregret.cli.topics.check_interrupt", interrupt)
        assert run(capsys, path, *options, "--save", model)[0] == 130
    assert nr.load(model).rounds == 6
    assert run(capsys, path, "--resume", model, "--quiet")[0] == 0
    one: Any = nr.load(whole)
    other: Any = nr.load(model)
    assert one.feature_names == other.feature_names
    assert one.components.tolist() == other.components.tolist()


def test_numbers_of_words_have_names_by_a_vocabulary(tmp_path: Path, capsys: Any) -> None:
    words = sorted({word for text in TEXTS for word in text.lower().replace(";", "").split()})
    data, vocabulary = tmp_path / "news.dat", tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(words) + "\n")
    lines = []
    for text in TEXTS:
        counts = {words.index(word): text.lower().split().count(word) for word in text.lower().replace(";", "").split()}
        lines.append(f"{len(counts)} " + " ".join(f"{word}:{max(count, 1)}" for word, count in sorted(counts.items())))
    data.write_text("\n".join(lines) + "\n")
    code, out, _ = run(capsys, data, "--format", "lda-c", "--vocabulary", vocabulary, *FAST)
    assert code == 0
    assert "stocks" in out
    vocabulary.write_text("cat\ndog\n")
    code, _, err = run(capsys, data, "--format", "lda-c", "--vocabulary", vocabulary, *FAST)
    assert code == 2
    assert "not in the vocabulary" in err


@pytest.mark.parametrize(("row", "problem"), [
    ("3 0:1 1:1", "it begins with 3, the number of its different words, but has 2"),
    ("cat 0:1", "it begins with cat, the number of its different words, but has 1"),
    ("2 0:1 7:1", "word 7 is not in the vocabulary, which has 2 words; they count from 0"),
    ("2 0:1 1:-1", "the count of 'dog' is -1; a topic model takes counts of words: whole numbers from 0 on"),
])  # fmt: skip
def test_a_bad_row_of_word_numbers_is_named_by_its_line(row: str, problem: str, tmp_path: Path, capsys: Any) -> None:
    data, words = tmp_path / "docs.dat", tmp_path / "words.txt"
    data.write_text(f"2 0:2 1:1\n{row}\n")
    words.write_text("cat\ndog\n")
    code, _, err = run(capsys, data, "--format", "lda-c", "--vocabulary", words, *FAST)
    assert (code, err) == (2, f"noregret: {data}:2: {problem}\n")


def test_hdp_finds_its_number_of_topics(table: Path, capsys: Any) -> None:
    code, out, _ = run(
        capsys, table, "--learner", "hdp", "--k", 6, "--set", "batch=8", "--set", "documents=40", "--quiet"
    )
    assert code == 0
    assert 2 <= len(out.splitlines()) - 2 <= 6


@pytest.mark.parametrize(("arguments", "problem"), [
    (["--set", "tau0"], "NAME=VALUE"), (["--set", "tau=3"], "tau0"), (["--most-share", "2"], "most_share"),
    (["--save", "-"], "name one"), (["--seed", "-1"], "--seed"), (["--most-share", "0"], "most_share must be above 0"),
    (["--text", "title"], "there is no column 'title'; the columns are id, body"),
    (["--text", "id"], "no word was learned"), (["--learner", "hdp", "--k", "1"], "--k is the most topics"),
    (["--plot", "shares.foo"], "--plot shares.foo: .foo is not a format of pictures; use .png, .svg or .pdf"),
    (["--plot", "shares"], "--plot shares: a name without an extension is not"),
])  # fmt: skip
def test_mistakes_end_with_one_line(table: Path, arguments: list[str], problem: str, capsys: Any) -> None:
    code, _, err = run(capsys, table, *arguments)
    assert code == 2
    assert problem in err
    assert len(err.strip().splitlines()) <= 2


def test_weights_and_a_vocabulary_that_would_not_count_are_refused(table: Path, tmp_path: Path, capsys: Any) -> None:
    words, lines, weighted = tmp_path / "words.txt", tmp_path / "news.txt", tmp_path / "news.vw"
    words.write_text("cat\ndog\n")
    lines.write_text("cats dogs\n" * 3)
    weighted.write_text("1 2.0 | cat dog\n")
    vocabulary = "noregret: --vocabulary is for files of word numbers and counts (LDA-C or libsvm)\n"
    for data in (table, lines):
        assert run(capsys, data, "--vocabulary", words, *FAST)[::2] == (2, vocabulary)
    for arguments in ([table, "--weight", "id"], [weighted]):
        code, _, err = run(capsys, *arguments, *FAST)
        assert code == 2
        assert "lda does not support weight=: all rows count the same" in err


def test_where_no_word_is_left_the_options_that_leave_words_out_are_named(tmp_path: Path, capsys: Any) -> None:
    lines = tmp_path / "news.txt"
    lines.write_text("the and of\n" * 30)
    code, _, err = run(capsys, lines, *FAST)
    assert code == 2
    assert all(option in err for option in ("--stop-words", "--least-documents", "--most-share", "--text"))
    assert run(capsys, lines, *FAST, "--stop-words", "none", "--most-share", "1")[0] == 0


def test_text_in_another_encoding_is_read_once_it_is_named(tmp_path: Path, capsys: Any) -> None:
    for name, row in (("news.txt", "caf\xe9 ol\xe9\n"), ("news.jsonl", '{"body": "caf\xe9 ol\xe9"}\n')):
        path = tmp_path / name
        path.write_bytes(row.encode("latin-1") * 4)
        given = () if path.suffix == ".txt" else ("--text", "body")
        code, _, err = run(capsys, path, *given, *FAST)
        assert (code, "name its --encoding, as in latin-1" in err) == (2, True)
        assert "café" in run(capsys, path, *given, *FAST, "--encoding", "latin-1")[1]


def test_a_column_that_is_not_there_is_refused_though_rows_have_no_labels(tmp_path: Path, capsys: Any) -> None:
    csv = tmp_path / "news.csv"
    csv.write_text("id,body\n" + "".join(f'{number},"{text}"\n' for number, text in enumerate(TEXTS)))
    for option in ("--text", "--drop", "--categorical"):
        assert run(capsys, csv, "--text", "body", option, "boddy")[::2] == (
            2, f"noregret: {csv}: there is no column 'boddy', did you mean 'body'? the columns are id, body\n"
        )  # fmt: skip


def test_a_table_without_text_is_refused(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    code, _, err = run(capsys, path)
    assert code == 2
    assert "no column looks like text" in err


def test_histories_keep_sums_when_blocks_are_merged() -> None:
    import numpy as np

    shares, losses = np.random.default_rng(0).dirichlet([1, 1, 1], 1000), np.arange(1000.0)
    history, parts = TopicHistory(2), TopicHistory(2)
    history.see(shares, losses)
    for start in range(0, 1000, 7):
        parts.see(shares[start : start + 7], losses[start : start + 7])
    assert sum(history.documents) == 1000
    assert len(history.documents) <= 129
    assert history.documents == parts.documents
    assert sum(history.losses) == pytest.approx(losses.sum())
    assert sum(history.shares) == pytest.approx(shares.sum(axis=0))
    assert sum(history.curve(topic)[0] for topic in range(3)) == pytest.approx(1.0)


def test_other_commands_read_new_documents_as_topics_did(table: Path, tmp_path: Path, capsys: Any) -> None:
    lines, model, out = tmp_path / "news.txt", tmp_path / "news.nr", tmp_path / "shares.csv"
    lines.write_text("".join(f"{text}\n" for text in TEXTS))
    for learned in (table, lines):
        assert run(capsys, learned, *FAST, "--save", model)[0] == 0
        expected = nr.load(model).transform(TEXTS)
        for new, options in ((table, ["--text", "body"] if learned is lines else []), (lines, [])):
            assert main(["predict", str(model), str(new), "--out", str(out), *options]) == 0
            written = [[float(cell) for cell in row.split(",")] for row in out.read_text().splitlines()[1:]]
            assert written == expected.tolist()
            report = tmp_path / "evaluated.json"
            assert main(["evaluate", str(model), str(new), "--json", str(report), *options]) == 0
            assert read_report(report)["loss"] == pytest.approx(nr.load(model).score(TEXTS).losses.sum())
    capsys.readouterr()
    assert main(["predict", str(model), str(table), "--out", str(out)]) == 2  # learned from lines: which column?
    assert "--text COLUMN" in capsys.readouterr().err
    assert main(["learn", str(table), "--resume", str(model)]) == 2
    assert f"noregret topics {table} --resume {model}" in capsys.readouterr().err
    assert main(["show", str(model)]) == 0
    assert f"noregret topics MORE_DOCUMENTS --resume {model}" in capsys.readouterr().out
