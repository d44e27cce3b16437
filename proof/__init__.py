"""What is shown of the library from outside: published results met again, and mutants of its rules caught."""
