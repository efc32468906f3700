"""The matrix: method x target x table, fit and predict, weald and its fastest peers.

Three small tables declare it, `methods.py`, `targets.py` and `tables.py`; `cells.py` says which
combinations are run. `make bench` runs it after the list of tasks, and
`make bench ARGS='--matrix-only --only "forest.*sparse" --update'` runs some of its cells again.
"""
