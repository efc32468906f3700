"""Settings that must be in place before scientific libraries are imported."""

import os

# Without it scikit-learn skips its checks of array-API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
