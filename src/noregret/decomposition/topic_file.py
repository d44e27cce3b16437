"""Topics in a model file: their arrays, and the checks of what is read."""

import numpy as np

from noregret.decomposition.factors_file import read_array
from noregret.decomposition.topic_words import TopicWords
from noregret.learner.header_fields import corrupt, read_number
from noregret.learner.model_file import Arrays, Header


def dump_topics(topics: TopicWords) -> tuple[Header, Arrays]:
    arrays: Arrays = {"weights": np.ascontiguousarray(topics.weights), "sums": topics.sums}
    return {"scale": topics.scale, "start": topics.start}, arrays


def restore_topics(fresh: TopicWords, header: Header, arrays: Arrays, words: int) -> TopicWords:
    """Fill topics without words with what `dump_topics` wrote; everything is checked."""
    weights, sums = read_array(arrays, "weights", 2), read_array(arrays, "sums", 1)
    scale, start = (read_number(header.get(name), name) for name in ("scale", "start"))
    if weights.shape != (words, fresh.topics) or sums.shape != (fresh.topics,):
        raise corrupt("the weights of its topics do not fit its words")
    if not 0.0 < scale <= 1.0 or not 0.0 <= start <= 1.0:
        raise corrupt("the scale of its topics must be between 0 and 1")
    fresh.room, fresh.sums, fresh.words, fresh.scale, fresh.start = weights, sums, words, scale, start
    exact, largest = weights.sum(axis=0), np.abs(weights).sum(axis=0)
    fits = np.isfinite(largest).all() and (np.abs(sums - exact) <= 1e-9 * largest).all()
    if not fits or not (fresh.parameters() > 0.0).all():
        raise corrupt("the weights of its topics are not those of Dirichlet distributions")
    return fresh
