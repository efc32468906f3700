"""Theory at work on 100,000 rows and 100 members: seconds and memory against what is promised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import weald
from bench.data import Data, noisy_classes
from bench.measure import Memory, Timed
from bench.task import OURS, Contender, Settings, Task
from weald import theory

ROWS, MEMBERS = 100_000, 100
SECONDS, MEGABYTES = 10.0, 1000.0
