"""Cases on small tables against the naive twins in :mod:`oracle`."""


def check_twin(case, est):
    pass
