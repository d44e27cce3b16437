"""Decoders of structured output."""
