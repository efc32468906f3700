"""Settings that must be in place before scientific libraries are imported."""

import os
import signal

# Without it scikit-learn skips its checks of array-API input.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Workers share the cores: threads of linear algebra and of scikit-learn that wait for each other
# while they spin made some tests take twenty times as long. weald's own threads are left alone.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# A shell lets its background jobs ignore Ctrl-C, and what they start inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
