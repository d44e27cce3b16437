"""Worked examples and errata, computed again: the two pages of the docs that show numbers beside numbers."""
