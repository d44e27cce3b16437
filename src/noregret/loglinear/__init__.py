"""Log-linear models over lists of candidates, such as n-best translations, adapted after every validated output."""
