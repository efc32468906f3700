"""Members that rule where they are good.

Two gauges measure the same quantity. The first is bad in the cold, the second in the heat (top:
their errors on new rows). A linear regression on each is a member. With one weight for each
member, the same everywhere, the errors of the bad one always come through.

A conditional mixture learns a gate from predictions of rows that the members have not seen: which
member loses less where. Bottom: the gate hands over from the second gauge to the first as it gets
warmer, and the mixture is good in the cold and in the heat.

Jacobs, Jordan, Nowlan and Hinton (1991), Adaptive mixtures of local experts, Neural Computation
3.
"""

import numpy as np
from figures import BLACK, BLUE, GREY, ORANGE, Example, panels, save
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from weald import ConditionalRegressor, DecisionTreeRegressor, SuperLearnerRegressor


def gauge(column):
    """A member that reads one gauge."""
    return make_pipeline(make_column_transformer(("passthrough", [column])), LinearRegression())


MEMBERS = [("first gauge", gauge(1)), ("second gauge", gauge(2))]


def draw_rows(random, n):
    """Temperature and two readings, the truth."""
    degrees, y = random.uniform(-20, 40, n), random.normal(0, 5, n)
    heat = 1 / (1 + np.exp(-(degrees - 10) / 3))
    first = y + random.normal(size=n) * (1.5 - 1.3 * heat)
    second = y + random.normal(size=n) * (0.2 + 1.3 * heat)
    return np.c_[degrees, first, second], y


def main():
    """Draw the errors of members and mixtures, and the gate, over temperature."""
    random = np.random.default_rng(0)
    (X, y), (X_new, y_new) = draw_rows(random, 2000), draw_rows(random, 6000)
    thermometer = make_column_transformer(("passthrough", [0]))
    gate = make_pipeline(thermometer, DecisionTreeRegressor(max_leaf_nodes=8, min_samples_leaf=50))
    model = ConditionalRegressor(MEMBERS, gate=gate, random_state=0).fit(X, y)
    everywhere = SuperLearnerRegressor(MEMBERS, random_state=0).fit(X, y)
    said = {label: member.fit(X, y).predict(X_new) for label, member in MEMBERS}
    said["one weight everywhere"] = everywhere.predict(X_new)
    said["conditional mixture"] = model.predict(X_new)
    degrees, weights = X_new[:, 0], model.gate_weights(X_new)
    figure, (top, bottom) = panels(1, 2, height=4.4, sharex=True, height_ratios=(2, 1))
    edges = np.arange(-20, 41, 2.5)
    place = np.digitize(degrees, edges[1:-1])
    looks = ((ORANGE, "-"), (BLUE, "-"), (GREY, "--"), (BLACK, "-"))
    for (label, values), (color, line) in zip(said.items(), looks, strict=True):
        mean = np.bincount(place, (values - y_new) ** 2) / np.bincount(place)
        width = 2.5 if color is BLACK else 1.6
        top.plot(edges[:-1] + 1.25, mean, line, color=color, linewidth=width, label=label)
    top.set_ylim(0, 3.4)
    top.set_ylabel("mean squared error")
    top.set_title("Errors on new rows, by temperature")
    top.legend(ncols=2, loc="upper center")
    order = np.argsort(degrees)
    bottom.plot(degrees[order], weights[order, 0], color=ORANGE, label="first gauge")
    bottom.plot(degrees[order], weights[order, 1], "--", color=BLUE, label="second gauge")
    bottom.set_ylim(-0.03, 1.03)
    bottom.set_xlabel("degrees Celsius")
    bottom.set_ylabel("weight")
    bottom.legend(loc="center right")
    error = {label: np.mean((values - y_new) ** 2) for label, values in said.items()}
    numbers = {"error": error, "cold": weights[degrees < 5].mean(axis=0)}
    numbers["hot"] = weights[degrees > 15].mean(axis=0)
    point = "mean squared error on new rows: " + ", ".join(
        f"{label} {value:.2f}" for label, value in error.items()
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
