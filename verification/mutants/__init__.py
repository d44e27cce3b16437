"""Mutants: every rule is broken on purpose, one small change at a time, and its own tests must notice."""
