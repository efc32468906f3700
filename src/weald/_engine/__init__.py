"""The door to the compiled engine: bin, draw, grow, route, prune.

Nothing else in weald touches ``_core``. Arrays that come through here are already checked by
:mod:`weald.input.table`; the engine checks sizes and ranges once more, so that even a damaged model
file cannot crash the interpreter.
"""

from weald._engine._arrays import FloatArray, IntArray
from weald._engine._core import (
    Binned,
    Boosting,
    Draw,
    Rounds,
    Rules,
    Target,
    bin_table,
    call_all,
    draw_columns,
    draw_rows,
    exact_mean,
    exact_sum,
    grow,
    labels,
    make_boosting,
    make_rounds,
    member_seed,
    order_of,
    pruning_path,
    reals,
)
from weald._engine._forest import Forest, grow_forest, sums_of
from weald._engine._sparse import SparseTable, rows_for_core
from weald._engine._threads import (
    beside_others,
    check_n_jobs,
    pause,
    resolve_threads,
    threads,
)
from weald._engine._tree import Tree, paths_of

__all__ = [
    "Binned",
    "Boosting",
    "Draw",
    "FloatArray",
    "Forest",
    "IntArray",
    "Rounds",
    "Rules",
    "SparseTable",
    "Target",
    "Tree",
    "beside_others",
    "bin_table",
    "call_all",
    "check_n_jobs",
    "draw_columns",
    "draw_rows",
    "exact_mean",
    "exact_sum",
    "grow",
    "grow_forest",
    "labels",
    "make_boosting",
    "make_rounds",
    "member_seed",
    "order_of",
    "paths_of",
    "pause",
    "pruning_path",
    "reals",
    "resolve_threads",
    "rows_for_core",
    "sums_of",
    "threads",
]
