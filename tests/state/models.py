"""One small fitted model of every kind."""

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression

import weald
from weald import losses


def models():
    """Names to fitted models, each with rows to predict."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(80, 2)), rng.integers(0, 5, 80)])
    X[rng.random(X.shape) < 0.05] = np.nan
    wide = np.column_stack([rng.integers(0, 400, 600), rng.normal(size=600)])
    real = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) + rng.normal(size=80)
    two, three = real > 0, np.digitize(real, [0.0, 2.0])
    c = {"categorical_features": [2], "random_state": 0}
    few = {"n_estimators": 3, **c}
    weights = rng.integers(1, 4, 80)
    groups = np.arange(80) // 4
    fits = {
        "tree": weald.DecisionTreeRegressor(max_depth=3, **c).fit(X, real),
        "tree of classes": weald.DecisionTreeClassifier(max_depth=3, **c).fit(X, three),
        "tree of outputs": weald.DecisionTreeClassifier(max_depth=2, **c).fit(
            X, np.column_stack([two, three])
        ),
        "tree of two numbers": weald.DecisionTreeRegressor(max_depth=2, **c).fit(
            X, np.column_stack([real, -real])
        ),
        "forest of two numbers": weald.RandomForestRegressor(max_depth=2, **few).fit(
            X, np.column_stack([real, -real])
        ),
        "extra-tree": weald.ExtraTreeRegressor(max_depth=3, **c).fit(X, real),
        "forest": weald.RandomForestRegressor(max_depth=3, oob_score=True, **few).fit(X, real),
        "forest of classes": weald.RandomForestClassifier(max_depth=3, **few).fit(
            X, three, sample_weight=weights
        ),
        "balanced forest": weald.RandomForestClassifier(
            max_depth=2, bootstrap="balanced", **few
        ).fit(X, two),
        "median forest": weald.RandomForestRegressor(
            max_depth=2, criterion="absolute_error", **few
        ).fit(X, real),
        "extra-trees": weald.ExtraTreesClassifier(max_depth=3, **few).fit(X, two),
        "bag": weald.BaggingClassifier(max_features=2, n_estimators=3, random_state=0).fit(
            X, three, groups=groups
        ),
        "bag of numbers": weald.BaggingRegressor(n_estimators=3, random_state=0).fit(X, real),
        "bag of lines": weald.BaggingRegressor(
            LinearRegression(), n_estimators=2, random_state=0
        ).fit(np.nan_to_num(X), real),
        "naive": weald.NaiveEnsembleClassifier(n_estimators=2, random_state=0).fit(X, three),
        "adaboost": weald.AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, three),
        "real adaboost": weald.AdaBoostClassifier(
            n_estimators=3, algorithm="real", random_state=0
        ).fit(X, two),
        "adaboost of numbers": weald.AdaBoostRegressor(n_estimators=3, random_state=0).fit(X, real),
        "stagewise": weald.StagewiseRegressor(n_estimators=3, random_state=0).fit(X, real),
        "stagewise votes": weald.StagewiseClassifier(n_estimators=3, random_state=0).fit(X, two),
        "logit": weald.AdaBoostClassifier(n_estimators=3, algorithm="logit", random_state=0).fit(
            X, two
        ),
        "adaboost of lines": weald.AdaBoostRegressor(
            LinearRegression(), n_estimators=2, random_state=0
        ).fit(np.nan_to_num(X), real),
        "stages of lines": weald.StagewiseRegressor(
            LinearRegression(), n_estimators=2, random_state=0
        ).fit(np.nan_to_num(X), real),
        "boosting of lines": weald.GradientBoostingRegressor(
            estimator=LinearRegression(), n_estimators=2, random_state=0
        ).fit(np.nan_to_num(X), real),
        "dart": weald.GradientBoostingRegressor(max_leaf_nodes=4, dropout=0.5, **few).fit(X, real),
        "boosting from a model": weald.GradientBoostingRegressor(
            max_leaf_nodes=4, init=weald.DecisionTreeRegressor(max_depth=1, **c), **few
        ).fit(X, real),
        "extra-trees of numbers": weald.ExtraTreesRegressor(max_depth=2, **few).fit(X, real),
        "extra-tree of classes": weald.ExtraTreeClassifier(max_depth=2, **c).fit(X, two),
        "naive numbers": weald.NaiveEnsembleRegressor(n_estimators=2, random_state=0).fit(X, real),
        "boosting": weald.GradientBoostingRegressor(max_leaf_nodes=4, **few).fit(X, real),
        "boosting of classes": weald.GradientBoostingClassifier(max_leaf_nodes=4, **few).fit(
            X, three
        ),
        "boosting of two": weald.GradientBoostingClassifier(max_leaf_nodes=4, **few).fit(X, two),
        "boosting of quantiles": weald.GradientBoostingRegressor(
            max_leaf_nodes=4, loss=losses.Quantile(0.9), **few
        ).fit(X, real),
    }
    whole = np.nan_to_num(X)
    fits["kernel"] = weald.KernelRegressor(0.1).fit(whole, real)  # narrow: it has a tree of points
    fits["kernel of classes"] = weald.KernelClassifier(kernel="box").fit(whole, three)
    trees = [("tree", weald.DecisionTreeClassifier(max_depth=2)), ("line", LogisticRegression())]
    numbers = [("tree", weald.DecisionTreeRegressor(max_depth=2)), ("line", LinearRegression())]
    fits["mix: blend"] = weald.BlendingRegressor(numbers, random_state=0).fit(whole, real)
    fits["mix: blend of classes"] = weald.BlendingClassifier(trees, random_state=0).fit(whole, two)
    fits["mix: learner"] = weald.SuperLearnerRegressor(numbers, cv=2, random_state=0).fit(
        whole, real
    )
    fits["mix: learner of classes"] = weald.SuperLearnerClassifier(trees, cv=2, random_state=0).fit(
        whole, three
    )
    fits["mix: gate"] = weald.ConditionalRegressor(numbers, cv=2, random_state=0).fit(whole, real)
    fits["mix: gate of classes"] = weald.ConditionalClassifier(trees, cv=2, random_state=0).fit(
        whole, two
    )
    fits["mix: stack"] = weald.StackingRegressor(numbers, cv=2).fit(whole, real)
    fits["mix: stack of classes"] = weald.StackingClassifier(trees, cv=2).fit(whole, two)
    fits["mix: mean"] = weald.VotingRegressor(numbers).fit(whole, real)
    fits["mix: vote"] = weald.VotingClassifier(trees).fit(whole, three)
    fits["kept targets"] = weald.RandomForestRegressor(max_depth=3, keep_targets=True, **few).fit(
        X, real
    )
    out = {name: (model, X) for name, model in fits.items()}
    for name in fits:
        if any(word in name for word in ("of lines", "stages", "kernel", "mix:")):
            out[name] = (fits[name], np.nan_to_num(X))
    many = weald.RandomForestRegressor(
        n_estimators=2, max_bins=None, categorical_features=[0], random_state=0
    ).fit(wide, rng.normal(size=600))
    out["many categories"] = (many, wide)
    return out
