"""Polynomials of degree 15, bagged: what a mean can do, and what it cannot.

Left: polynomials of degree 15 fitted to bootstrap samples of the same 150 rows wiggle, each in
its own way. Their mean is calmer.

Right: the variance over 20 training sets. A mean of 25 members varies less than one *member*. But
a member saw only 63 % of the rows. Compare the bag with one fit to *all* rows: for trees the bag
wins clearly, for polynomials it does not win at all, because least squares is linear in the
targets and the mean of many fits estimates the same thing as one. Bagging is for methods that
jump when the data change a little.

Breiman (1996), Bagging predictors, Machine Learning 24; Buja and Stuetzle (2006), Observations on
bagging, Statistica Sinica 16.
"""

import numpy as np
from figures import BLACK, GREY, ORANGE, SKY, VERMILION, Example, name, panels, save
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import PolynomialFeatures

from weald import BaggingRegressor, DecisionTreeRegressor

GRID = np.linspace(-0.95, 0.95, 191)
METHODS = {
    "polynomials": (LinearRegression(), PolynomialFeatures(15, include_bias=False)),
    "trees": (DecisionTreeRegressor(), PolynomialFeatures(1, include_bias=False)),
}
BARS = {"one bootstrap member": GREY, "one fit to all rows": SKY, "bag of 25": VERMILION}


def draw_rows(seed, n=150):
    """Rows of a wave with noise."""
    random = np.random.default_rng(seed)
    x = random.uniform(-1, 1, n)
    return x, np.sin(1.5 * np.pi * x) + random.normal(0, 0.6, n)


def curves(method, seed):
    """What the members say along the grid, and what one fit to all rows says."""
    member, features = METHODS[method]
    x, y = draw_rows(seed)
    X, grid = (features.fit_transform(values[:, None]) for values in (x, GRID))
    bag = BaggingRegressor(member, 25, random_state=seed).fit(X, y)
    return bag.member_predictions(grid), member.fit(X, y).predict(grid)


def main():
    """Draw the members of one bag, and variances over many training sets."""
    figure, (picture, bars) = panels(2)
    x, y = draw_rows(0)
    members, _ = curves("polynomials", 0)
    picture.plot(x, y, ".", color=GREY, markersize=3)
    picture.plot(GRID, members.T, color=ORANGE, linewidth=0.7)
    picture.plot([], [], color=ORANGE, label="members")
    picture.plot(GRID, members.mean(axis=0), color=VERMILION, linewidth=2.8, label="their mean")
    picture.plot(GRID, np.sin(1.5 * np.pi * GRID), "--", color=BLACK, label="truth")
    picture.set_ylim(-4, 3)
    picture.legend(ncols=3, loc="lower center", columnspacing=1.0, handlelength=1.5)
    name(picture, "25 polynomials of degree 15", "x", "y")
    numbers = {}
    for place, method in enumerate(METHODS):
        members, full = zip(*(curves(method, seed) for seed in range(20)), strict=True)
        said = (np.array(members)[:, 0], np.array(full), np.array(members).mean(axis=1))
        variance = [each.var(axis=0).mean() for each in said]
        numbers[method] = variance
        for shift, value, (label, color) in zip(
            (-0.27, 0, 0.27), variance, BARS.items(), strict=True
        ):
            bars.bar(place + shift, value, 0.25, color=color, label=label if not place else None)
            bars.text(place + shift, value + 0.005, f"{value:.2f}", ha="center")
    bars.set_xticks(range(2), METHODS)
    bars.set_ylim(0, 0.45)
    bars.legend(loc="upper left")
    name(bars, "Variance over 20 training sets", "", "variance of the prediction")
    point = "variance of a member, of one fit to all rows and of the bag: " + "; ".join(
        f"{method} " + ", ".join(f"{value:.2f}" for value in variance)
        for method, variance in numbers.items()
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
