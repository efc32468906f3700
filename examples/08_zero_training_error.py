"""Training error zero, and the test error still falls.

AdaBoost with trees of depth 4 tells even from odd handwritten digits. After a few rounds it makes
no error on the training rows: one might think that there is nothing left to learn, and that more
rounds could only overfit. But the error on new rows goes on falling for a long time.

The third curve explains it: the smallest margin of the training rows keeps growing. The votes for
the right class gain a lead, and a vote with a lead survives a small change of the row.

Schapire, Freund, Bartlett and Lee (1998), Boosting the margin, Annals of Statistics 26, figure 1.
"""

import numpy as np
from figures import BLUE, GREEN, GREY, VERMILION, Example, log_rounds, name, panels, save
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from weald import AdaBoostClassifier, DecisionTreeClassifier

ROUNDS = 300


def main():
    """Draw training error, test error and the smallest margin over the rounds."""
    X, y = load_digits(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y % 2, test_size=0.5, random_state=0)
    member = DecisionTreeClassifier(max_depth=4)
    model = AdaBoostClassifier(member, n_estimators=ROUNDS).fit(X, y)
    train = 1 - np.array(list(model.staged_score(X, y)))
    test = 1 - np.array(list(model.staged_score(X_new, y_new)))
    votes = model.alphas_[:, None] * model.member_predictions(X)  # members say -1 or 1
    margin = np.cumsum(votes * np.where(y == 1, 1, -1), axis=0)
    margin = (margin / model.alphas_.cumsum()[:, None]).min(axis=1)
    done = int(np.flatnonzero(train)[-1]) + 1
    figure, (errors, margins) = panels(2)
    rounds = np.arange(1, len(train) + 1)
    errors.plot(rounds, test, color=VERMILION, label="new rows")
    errors.plot(rounds, train, "--", color=BLUE, label="training rows")
    margins.plot(rounds, margin, color=GREEN)
    for ax in (errors, margins):
        label = f"no training error\nfrom round {done + 1} on"
        ax.axvline(done + 1, color=GREY, linestyle=":", label=label)
        log_rounds(ax)
    errors.set_ylim(-0.003, 0.11)
    errors.legend(loc="upper right")
    name(errors, "Even or odd digits", "rounds of AdaBoost", "error rate")
    name(margins, "The lead of the right class", "rounds of AdaBoost", "margin of the worst row")
    numbers = {"done": done + 1, "train": train[done:], "test_when_done": test[done]}
    numbers |= {"test": test[-1], "margin_when_done": margin[done], "margin": margin[-1]}
    point = (
        f"training error zero from round {done + 1} on; test error then {test[done]:.3f}, after "
        f"{ROUNDS} rounds {test[-1]:.3f}; smallest margin {margin[done]:.3f} and {margin[-1]:.3f}"
    )
    return Example(figure, point, numbers)


if __name__ == "__main__":
    save(main)
