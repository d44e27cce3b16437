"""Streams at random, without end: every learner against its plain text, its reference and its twin."""
