"""What the project says of itself, proved again: each part is a program that computes, compares and reports."""
