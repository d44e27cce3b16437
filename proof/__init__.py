"""Proofs by experiment: what the tests notice, and what is measured again and again."""
