"""Translation: the base model of docs/translation.md, its n-best lists, and how it adapts to new domains."""
