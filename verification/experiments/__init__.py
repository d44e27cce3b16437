"""Small experiments on real data: what the docs say of rare classes, late labels and rows without labels."""
