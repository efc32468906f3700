"""Build the gallery: ``python examples docs/gallery`` draws all, and writes docs/gallery.md.

The text of the page is that of the examples: their docstrings, and what they print.
"""

import sys
from importlib import import_module
from pathlib import Path

from figures import save
from page import FILES, write_page

folder = Path(*sys.argv[1:2] or ["build/gallery"])
points = {}
for file in FILES:
    points[file.stem] = save(import_module(file.stem).main, folder).point
write_page(folder, points)
