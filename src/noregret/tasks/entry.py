"""The one entry of every compiled loop: values are read from a table of addresses, then the task is played."""

from typing import Any

from noregret.algebra.verbs import unbound

read_params = read_setting = read_state = read_rows = read_y = read_h = read_out = read_updated = read_aux = unbound
play = score_rows = unbound


def entry(table: Any) -> int:
    p = read_params(table)
    g = read_setting(table)
    s = read_state(table)
    X = read_rows(table)
    out = read_out(table)
    if table[0] == 1:
        play(p, g, s, X, read_y(table), read_h(table), out, read_updated(table), read_aux(table))
    else:
        score_rows(p, g, s, X, out)
    return 0
