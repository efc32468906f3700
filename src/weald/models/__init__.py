"""Model files: one file per model, data only, checked when it is read.

``saving`` and ``loading`` are the course of the two; between a model and its file stand

- ``encoding`` and ``decoding``: a fitted estimator as JSON and arrays, and back,
- ``allowed``: the classes and functions that a file may name,
- ``compiled`` and ``foreign``: what scikit-learn and SciPy keep in compiled objects, and what their
  estimators take on trust,
- ``trial``: a row that a loaded model must be able to predict,
- ``container``: JSON and arrays in one safetensors file.

docs/model-files.md has the format.
"""

from weald.models.description import ColumnInfo, ModelInfo, describe
from weald.models.errors import ModelFileError
from weald.models.loading import load
from weald.models.saving import save

__all__ = ["ColumnInfo", "ModelFileError", "ModelInfo", "describe", "load", "save"]
