"""Runs the cases of `cases.py`, each in a process of its own, forked where what it needs is there.

A line of the input names a case. The answers: "running" and the number of the process that does the
job; then "stopped", the time and the processor time when the job was interrupted; then "usable" if
a fit gives the same bits as before. Anything else is an error.
"""

import faulthandler
import hashlib
import os
import signal
import sys
import time
import traceback

import numpy as np

from interrupts.cases import CASES
from interrupts.jobs import table

LONGEST = 60  # seconds, until a case that does not stop is killed

answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the jobs print is no answer


def say(*words):
    print(*words, file=answers, flush=True)


def digest():
    """What some small models say: the same bits, unless something is broken."""
    import weald

    X, classes, numbers = table()
    bits = hashlib.sha256()
    for model in (
        weald.DecisionTreeRegressor(max_depth=6, n_jobs=2),
        weald.RandomForestRegressor(4, n_jobs=2, random_state=0, max_depth=6),
        weald.GradientBoostingRegressor(n_estimators=3, n_jobs=2, random_state=0),
    ):
        bits.update(np.ascontiguousarray(model.fit(X, numbers).predict(X)).tobytes())
    bits.update(weald.AdaBoostClassifier(n_estimators=3).fit(X, classes).predict_proba(X).tobytes())
    return bits.hexdigest()


def run(job, before):
    """Do the job until it is interrupted."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        say("running", os.getpid())
        while True:
            job()
    except KeyboardInterrupt:
        stopped = time.monotonic(), time.process_time()
    say("stopped", *stopped)
    say("usable" if digest() == before else "other bits")


def main():
    """Serve until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    before = digest()
    say("ready")
    for line in sys.stdin:
        job = CASES[line.rstrip("\n")]()
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(LONGEST, exit=True)
            try:
                run(job, before)
            except BaseException:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(0)
        os.waitpid(child, 0)
        say("done")


if __name__ == "__main__":
    main()
