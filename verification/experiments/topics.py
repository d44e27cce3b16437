"""The topics of three corpora in one pass, with their shares over time; for Reuters the stream is in order of date."""

import gzip
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import noregret as nr
from noregret.decomposition.topic_model import Topic
from noregret.evaluation.topic_history import TopicHistory
from verification.experiments.common import Row, Table

REUTERS, NEWSGROUPS = "reuters21578/reuters21578.jsonl.xz", "newsgroups20/20_newsgroups.jsonl.xz"
AP, VOCABULARY = "ap_corpus/ap.dat.gz", "ap_corpus/vocab.txt.gz"
FILES = (REUTERS, NEWSGROUPS, AP, VOCABULARY)
K, CHUNK, WORDS, SHOWN, SEED = 20, 256, 8, 8, 0
FILTER: dict[str, Any] = {"stop_words": "english", "least_documents": 2, "most_share": 0.5}  # as `noregret topics` has
MONTHS = {"FEB": "February", "MAR": "March", "APR": "April", "JUN": "June", "OCT": "October"}


class Corpus(NamedTuple):
    """Documents in their order, and where parts of them begin."""

    documents: list[Any]
    parts: dict[str, int]


class Learned(NamedTuple):
    """Topics, and what every document was given before it was learned."""

    topics: list[Topic]
    shares: np.ndarray
    losses: np.ndarray


def read_corpora(base: Path) -> dict[str, Corpus]:
    """The corpora by name."""
    return {"reuters21578": reuters(base), "newsgroups20": newsgroups(base), "ap_corpus": ap(base)}


def reuters(base: Path) -> Corpus:
    """News of 1987, as published; a part for each month that has any."""
    texts, parts = [], dict[str, int]()
    for number, row in enumerate(read_json(base / REUTERS)):
        month = next((name for short, name in MONTHS.items() if f"-{short}-1987" in row["date"]), None)
        if month is not None and month not in parts:
            parts[month] = number
        texts.append(f"{row.get('title') or ''}\n{row.get('body') or ''}")
    return Corpus(texts, parts)


def read_json(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file."""
    with lzma.open(path, "rt") as file:
        yield from map(json.loads, file)


def newsgroups(base: Path) -> Corpus:
    """Posts without their headers."""
    return Corpus([row["text"].partition("\n\n")[2] for row in read_json(base / NEWSGROUPS)], {"all": 0})


def ap(base: Path) -> Corpus:
    """Counts of words; stop words were removed by those who made it."""
    words = gzip.decompress((base / VOCABULARY).read_bytes()).decode().split()
    documents = []
    for line in gzip.decompress((base / AP).read_bytes()).decode().splitlines():
        pairs = (pair.split(":") for pair in line.split()[1:])
        documents.append({words[int(number)]: int(count) for number, count in pairs})
    return Corpus(documents, {"all": 0})


def learn(learner: Any, corpus: Corpus) -> Learned:
    """One pass; shares and losses are those before a document is learned."""
    shares, losses = [], []
    for start in range(0, len(corpus.documents), CHUNK):
        transcript = learner.play(corpus.documents[start : start + CHUNK])
        shares.append(transcript.scores)
        losses.append(transcript.losses)
    return Learned(learner.topics(WORDS), np.concatenate(shares), np.concatenate(losses))


def make(name: str, **options: Any) -> Any:
    return nr.make(name, seed=SEED, **FILTER, **options)


def run(base: Path) -> Table:
    lines: list[Row] = []
    for name, corpus in read_corpora(base).items():
        found = learn(make("lda", k=K), corpus)
        ends = [*list(corpus.parts.values())[1:], len(corpus.documents)]
        means = [found.shares[start:end].mean(axis=0) for start, end in zip(corpus.parts.values(), ends, strict=True)]
        for topic in found.topics[:SHOWN]:
            shares = " ".join(f"{100.0 * mean[topic.number]:.1f}" for mean in means)
            lines.append((name, shares, " ".join(str(word) for word, _ in topic.words)))
    return ("corpus", f"share by part, % ({', '.join(MONTHS.values())} for Reuters)", "words"), lines


def draw(base: Path) -> Any:
    """The shares of the largest topics of Reuters over time, with a line where a month begins."""
    from noregret.plots.topics import topic_shares

    corpus = reuters(base)
    found, history = learn(make("lda", k=K), corpus), TopicHistory()
    history.see(found.shares, found.losses)
    names = [(topic.number, " ".join(str(word) for word, _ in topic.words[:4])) for topic in found.topics[:SHOWN]]
    figure = topic_shares(history, names)
    panel = figure.axes[0]
    for month, start in corpus.parts.items():
        panel.axvline(start, color="black", linewidth=0.8)
        if start:  # February has only few documents
            panel.text(start + 60, 0.97, month[:3], va="top", fontsize=8)
    return figure


if __name__ == "__main__":  # python -m verification.experiments.topics DATA draws the picture of docs/topics.md
    import sys

    pictures = Path(__file__).parents[2] / "docs" / "topics"
    draw(Path(sys.argv[1])).savefig(pictures / "reuters.png", dpi=110)
