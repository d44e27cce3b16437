"""Structured output: the best of many outputs of an input is found by a decoder, and rules learn its weights."""
