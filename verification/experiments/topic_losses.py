"""Whether topics pay: losses of topic models in one pass beside those of one distribution over words."""

from pathlib import Path

from verification.experiments import topics
from verification.experiments.common import Row, Table

FILES = topics.FILES
LEARNERS = {"unigram": {}, f"lda(k={topics.K})": {"k": topics.K}, "hdp": {}}


def run(base: Path) -> Table:
    lines: list[Row] = []
    for name, corpus in topics.read_corpora(base).items():
        for text, options in LEARNERS.items():
            learner = topics.make(text.partition("(")[0], **options)
            total = topics.learn(learner, corpus).losses.sum()
            per_document, per_word = total / len(corpus.documents), total / learner.words_scored
            lines.append((name, f"{len(corpus.documents):,}", text, f"{per_document:.1f}", f"{per_word:.3f}"))
    return ("corpus", "documents", "learner", "loss of a document", "loss of a word"), lines
