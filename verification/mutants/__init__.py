"""Mutation testing: every rule is broken on purpose, one small change at a time, and its tests must detect it."""
