"""Predictions of the page's JavaScript, by node."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weald.report

SCRIPT = Path(weald.report.__file__).with_name("predict.js")
NODE = shutil.which("node")

needs_node = pytest.mark.skipif(
    NODE is None, reason="node is missing: install it, for instance with apt-get install nodejs"
)

PROGRAM = """
const weald = require(process.argv[1]);
const given = JSON.parse(require("fs").readFileSync(0, "utf8"));
const model = weald.open(given.trees, given.nCategories);
const rows = given.rows.map((row) => row.map((x) => (x === null ? NaN : x)));
console.log(JSON.stringify(rows.map((row) => weald.predict(model, row))));
"""


def predictions(trees: dict[str, Any], n_categories: list[int], rows: np.ndarray) -> list[Any]:
    """What the page says about encoded rows."""
    cells = [[None if np.isnan(x) else float(x) for x in row] for row in rows]
    given = json.dumps({"trees": trees, "nCategories": n_categories, "rows": cells})
    assert NODE is not None
    done = subprocess.run(
        [NODE, "-e", PROGRAM, str(SCRIPT)],
        input=given,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return json.loads(done.stdout)
