"""Files of any usual format as tables, with a recipe that reads other files in the same way."""

from weald.dataset.bundled import BUNDLED, bundled
from weald.dataset.errors import DataError, suggestion
from weald.dataset.recipe import Recipe
from weald.dataset.sources import Source, open_file, stem
from weald.dataset.training import Training, read_training

__all__ = [
    "BUNDLED",
    "DataError",
    "Recipe",
    "Source",
    "Training",
    "bundled",
    "open_file",
    "read_training",
    "stem",
    "suggestion",
]
