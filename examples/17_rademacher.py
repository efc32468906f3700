"""What stumps can fit by chance.

Give the rows random labels, -1 or 1 by the toss of a coin, and look for the stump that agrees
with them best. Its mean agreement, over many tosses, is the empirical Rademacher complexity: what
the family can fit where there is nothing to learn. With probability 1 - delta the error on new
rows is at most the error on the training rows, plus this (for labels -1 and 1), plus 3 sqrt(ln(2
/ delta) / 2n).

It falls like 1 / sqrt(n) (straight lines of slope -1/2 here): four times the rows, half the
chance. A family with more columns to choose from can fit more, but only a little: with 16 times
the columns it is far from 16 times as much, since Massart's bound (dotted) grows with the square
root of a logarithm.

Bartlett and Mendelson (2002), Rademacher and Gaussian complexities, Journal of Machine Learning
Research 3; Massart (2000), lemma 5.2.
"""

import numpy as np
from figures import BLUE, VERMILION, Example, log_rounds, name, panels, save

from weald.theory import rademacher

ROWS = 50 * 2 ** np.arange(7)
COLUMNS = {1: (BLUE, "o"), 16: (VERMILION, "s")}


def main():
    """Draw the complexity of stumps over the number of rows, for one and for 16 columns."""
    random = np.random.default_rng(0)
    X = random.normal(size=(ROWS[-1], max(COLUMNS)))
    figure, ax = panels()
    numbers = {}
    for d, (color, marker) in COLUMNS.items():
        found = [rademacher("stumps", X[:n, :d], n_draws=100, random_state=0) for n in ROWS]
        value = np.array([each.value for each in found])
        massart = np.array([each.bound for each in found])
        columns = "1 column" if d == 1 else f"{d} columns"
        ax.plot(ROWS, value, "-", marker=marker, color=color, label=f"stumps on {columns}")
        ax.plot(ROWS, massart, ":", color=color, label=f"Massart's bound, {columns}")
        slope = np.polyfit(np.log(ROWS), np.log(value), 1)[0]
        numbers[d] = {"value": value, "massart": massart, "slope": slope}
    log_rounds(ax)
    ax.set_yscale("log")
    ax.set_yticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
    ax.yaxis.set_minor_formatter("")
    ax.legend()
    name(ax, "Stumps on random labels", "rows n", "Rademacher complexity")
    point = "; ".join(
        f"{d} column{'s' * (d > 1)}: {each['value'][0]:.3f} with {ROWS[0]} rows, "
        f"{each['value'][-1]:.3f} with {ROWS[-1]}, slope {each['slope']:.2f}"
        for d, each in numbers.items()
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
