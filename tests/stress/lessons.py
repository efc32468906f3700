"""What each tree of a fitted model was grown from, worked out from the documentation.

Where that cannot be known from outside (rows drawn by a boosted model, say) a lesson has no
weights, and only the shape of the tree is looked at.
"""

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.class_weight import compute_sample_weight

import weald
from oracle.categories import row_weight
from stress.finished import Lesson, medians
from weald.boosting.units import row_scale

SINGLE = (weald.DecisionTreeClassifier, weald.DecisionTreeRegressor)
FORESTS = (
    weald.RandomForestClassifier,
    weald.RandomForestRegressor,
    weald.ExtraTreesClassifier,
    weald.ExtraTreesRegressor,
)
BAGS = (weald.BaggingClassifier, weald.BaggingRegressor)
NAIVE = (weald.NaiveEnsembleClassifier, weald.NaiveEnsembleRegressor)
ADABOOST = (weald.AdaBoostClassifier, weald.AdaBoostRegressor)
STAGEWISE = (weald.StagewiseClassifier, weald.StagewiseRegressor)
GRADIENT = (weald.GradientBoostingClassifier, weald.GradientBoostingRegressor)
KEPT = 2e-7  # forests keep weights in four bytes
ROUNDED = 1e-6  # weights that change from round to round are whole numbers of a small unit


# --- targets and weights ------------------------------------------------------------------------


def codes_of(est, y):
    """Class codes of shape (n, outputs), and the number of classes of each."""
    several = y.ndim > 1
    columns = y.T if several else [y]
    classes = est.classes_ if several else [est.classes_]
    codes = [np.searchsorted(known, column) for known, column in zip(classes, columns, strict=True)]
    return np.column_stack(codes), tuple(len(known) for known in classes)


def balanced(codes, w):
    """Every class weighs the same; of several outputs the product."""
    out = np.ones(len(codes))
    for column in codes.T:
        mass = np.bincount(column, w)
        out *= w.sum() / (np.count_nonzero(mass) * np.maximum(mass, 1e-300)[column])
    return out


def class_weights(est, table, codes, by_weight):
    """Weight of each row by its class."""
    given = getattr(est, "class_weight", None)
    if given is None:
        return np.ones(len(table))
    if given == "balanced_subsample" and est.bootstrap:
        return np.ones(len(table))
    if isinstance(given, str) and by_weight:
        return balanced(codes, table.w)
    return compute_sample_weight(given, table.y)


def target_of(est, table):
    if is_classifier(est):
        return codes_of(est, table.y)
    return table.y.reshape(len(table), -1).astype(float), ()


# --- what the parameters of a tree say ----------------------------------------------------------


def tree_rules(tree, d):
    """Parameters of a tree, and what follows from them."""
    rules = tree.get_params(deep=False)
    drawn = rules["max_features"]
    every = drawn is None or (isinstance(drawn, float) and drawn == 1.0)
    every |= d == 1 or (isinstance(drawn, int) and drawn >= d)
    free = rules.get("max_leaf_nodes") is None and rules["ccp_alpha"] == 0.0
    free &= rules["min_weight_fraction_leaf"] == 0.0 and rules["min_impurity_decrease"] == 0.0
    return rules, {
        "searches all": every and rules["splitter"] == "best",
        "leaves had a choice": free,
    }


def grown(est, member, table, X, Y, classes, w, close=1e-9, **extra):
    """The lesson of a member of weald's tree classes; w is None if it is not known."""
    rules, more = tree_rules(member, X.shape[1])
    categorical = [kind is not None for kind in member.categories_]
    more |= {"there": table.w > 0, "binned by": table.w, **extra}
    if w is not None and "row weight" not in more:
        more["row weight"] = row_weight(w)
    return Lesson(
        member.tree_, X, Y, w, rules["criterion"], rules, categorical, classes, close, extra=more
    )


# --- families -----------------------------------------------------------------------------------


def of_single(est, table):
    X, (Y, classes) = table.coded(est.categories_), target_of(est, table)
    w = table.w * class_weights(est, table, Y, by_weight=False)
    known = {"binned by": w, "rows": int((w > 0).sum())}
    lesson = grown(est, est, table, X, Y, classes, w, **known)
    if getattr(est, "cost_matrix", None) is not None:
        # Costs weigh in the splits, and only there.
        lesson.extra["searches all"] = lesson.extra["leaves had a choice"] = False
        lesson.rules["min_weight_fraction_leaf"] = 0.0
    yield lesson


def of_forest(est, table):
    X, (Y, classes) = table.coded(est.categories_), target_of(est, table)
    per_class = class_weights(est, table, Y, by_weight=True)
    for member, drawn in zip(est.estimators_, est.in_bag_, strict=True):
        w = drawn.astype(float)
        if not est.bootstrap:
            w = w * table.w * per_class
        elif est.bootstrap == "balanced" and getattr(est, "class_weight", None) is not None:
            w = w * (1.0 if est.class_weight == "balanced_subsample" else per_class)
        if getattr(est, "class_weight", None) == "balanced_subsample" and est.bootstrap:
            w = w * balanced(Y, w)
        one = {"row weight": row_weight(w, drawn)}
        yield grown(est, member, table, X, Y, classes, w, KEPT, **one)


def of_bag(est, table):
    X, (Y, classes) = table.coded(est.categories_), target_of(est, table)
    here = table.w > 0
    draws = est.bootstrap or not (est.in_bag_[:, here] == 1).all()
    every = zip(est.estimators_, est.in_bag_, est.estimators_features_, strict=True)
    for member, drawn, columns in every:
        w = drawn * (1.0 if draws else table.w)
        lesson = grown(est, member, table, X[:, columns], Y, classes, w, KEPT)
        if lesson.rules["monotonic_cst"] is not None:
            given = np.asarray(lesson.rules["monotonic_cst"])
            lesson.rules["monotonic_cst"] = given[columns].tolist()
        yield lesson


def of_naive(est, table):
    X, (Y, classes) = table.coded(est.categories_), target_of(est, table)
    for member in est.estimators_:
        yield grown(est, member, table, X, Y, classes, table.w, KEPT)


def of_adaboost(est, table):
    X, (Y, classes) = table.coded(est.categories_), target_of(est, table)
    known = est.keep_weights and not est.resample and est.n_iter_no_change is None
    logit = getattr(est, "algorithm", None) == "logit"
    w = table.w * class_weights(est, table, Y, by_weight=True)
    whole = (w == np.floor(w)).all()
    rows = {"binned by": w, "row weight": 1 / (w.sum() if whole else (w > 0).sum())}
    for t, member in enumerate(est.estimators_):
        if logit or not known:
            unknown = est.resample or est.n_iter_no_change is not None
            yield grown(est, member, table, X, None, (), None, **{"rows unknown": unknown})
        else:
            yield grown(est, member, table, X, Y, classes, est.weights_[t], ROUNDED, **rows)


def doubtful(r):
    """Say whether there are residuals of which rounding decides whether they are 0."""
    return bool(((r != 0) & (np.abs(r) < 1e-9 * np.abs(r).max())).any())


def of_stagewise(est, table):
    X, (Y, _) = table.coded(est.categories_), target_of(est, table)
    y, F = Y[:, 0].astype(float), np.full(len(table), est.init_)
    said = est.member_predictions(table.X)
    stops = est.n_iter_no_change is not None and est.validation_fraction is not None
    kinks = est.loss_.name in ("absolute_error", "quantile")  # rounding decides where y = F
    for t, member in enumerate(est.estimators_):
        r = -est.loss_.gradient(y, F)
        if stops or (kinks and t > 0):
            yield grown(est, member, table, X, None, (), None, **{"rows unknown": stops or kinks})
        elif is_classifier(member):
            side, w = (r > 0).astype(int)[:, None], table.w * np.abs(r)
            w = w * table.w.sum() / w.sum()
            # The target in the middle is its prediction but for rounding: is its row there?
            one = {"row weight": row_weight(table.w), "rows unknown": doubtful(r)}
            yield grown(est, member, table, X, side, (2,), w, ROUNDED, **one)
        else:
            yield grown(est, member, table, X, r[:, None], (), table.w, ROUNDED)
        F = F + est.steps_[t] * said[t]


# --- gradient boosting --------------------------------------------------------------------------

FLOORS = dict.fromkeys(("focal", "huber", "log_cosh", "smooth_hinge"), 0.01)
LONGEST = 10.0  # of Newton steps where predictions are exp(F)


def pulls(est, y, F):
    """Gradients and second derivatives of shape (n, K); None if the loss has none."""
    loss = est.loss_
    several = isinstance(loss, tuple)
    K = F.shape[1]
    every = loss if several else (loss,) * K
    if every[0].kind == "multiclass":
        return every[0].gradient(y[:, 0], F), every[0].hessian(y[:, 0], F)
    target = y if y.shape[1] == K else np.repeat(y, K, axis=1)
    g = np.column_stack([one.gradient(target[:, k], F[:, k]) for k, one in enumerate(every)])
    if not every[0].has_hessian:
        return g, None
    h = np.column_stack([one.hessian(target[:, k], F[:, k]) for k, one in enumerate(every)])
    return g, np.maximum(h, FLOORS.get(every[0].name, 0.0))


def is_known(est):
    """Rows, scores and steps of every round can be worked out."""
    stops = est.n_iter_no_change is not None
    draws = est.subsample < 1 or est.sampling != "uniform" or est.dropout > 0
    huber = est.loss == "huber"  # its delta moves from round to round
    return not (
        stops or draws or huber or est.step == "line_search" or est.init not in (None, "zero")
    )


def of_gradient(est, table):
    X, (Y, _) = table.coded(est.categories_), target_of(est, table)
    known = is_known(est)
    rules = est.get_params(deep=False)
    if rules["max_leaf_nodes"] == "auto":
        rules["max_leaf_nodes"] = None
    if rules["min_samples_leaf"] == "auto":
        rules["min_samples_leaf"] = est.min_samples_leaf_
    if isinstance(getattr(est, "alpha", None), list):
        known = False  # several quantiles are kept from crossing
    K = est.n_trees_per_iteration_
    extra = {"there": table.w > 0, "groups": groups_of(est, table.n_columns)}
    extra["rows unknown"] = not known
    categorical = table.categorical
    trees = [[est.estimators_[t, k].tree_ for k in range(K)] for t in range(est.n_estimators_)]
    if not known:
        for tree in (tree for round_ in trees for tree in round_):
            yield Lesson(tree, X, None, None, "gradient", rules, categorical, extra=extra)
        return
    w = table.w * row_scale(table.w)  # weights that are not whole are 1 on average
    if getattr(est, "class_weight", None) is not None:
        w = w * class_weights(est, table, Y, by_weight=True)
    start = np.atleast_1d(np.asarray(est.init_, dtype=float))
    F = np.tile(start, (len(table), 1))
    for round_ in trees:
        g, h = pulls(est, Y.astype(float), F)
        step = np.zeros_like(F)
        for k, tree in enumerate(round_):
            lesson = of_round(est, tree, X, Y, w, F, g, h, k, rules, categorical, dict(extra))
            yield lesson
            leaf = tree.apply(X)
            said = tree.value.reshape(tree.node_count, -1)[leaf]
            if said.shape[1] > 1:
                step = said
            else:
                step[:, k] = said[:, 0]
        F = F + step


def groups_of(est, d):
    given = est.interaction_cst
    if given is None:
        return None
    if given == "no_interactions" or d == 1:
        return [[j] for j in range(d)]
    if given == "pairwise":
        return [[i, j] for i in range(d) for j in range(d)]
    return given


def of_round(est, tree, X, Y, w, F, g, h, k, rules, categorical, extra):
    """The lesson of one tree of a boosted model."""
    vector = tree.value.size > tree.node_count
    order, step, l2 = order_and_step(est, h, vector), step_of(est), l2_of(est)
    columns = slice(None) if vector else slice(k, k + 1)
    c = -w[:, None] * g[:, columns]
    weight = w * h[:, k] if order == 2 else w
    extra["there"] = w > 0
    every = est.max_features is None and est.max_features_per_tree is None
    simple = every and est.interaction_cst is None and l2 is not None and not vector
    extra["searches all"] = simple and rules["min_impurity_decrease"] == 0
    extra["min_hessian"] = est.min_hessian_ if order == 2 else 0.0
    extra["unit"] = 1e-14 * w.sum()
    leaves = None
    if rules["monotonic_cst"] is None:
        leaves = leaf_rule(est, tree, Y, w, F, g, h, columns, step, l2)
    close = max(ROUNDED, 4e-9 * len(X))  # every row is rounded to a unit
    return Lesson(
        tree, X, c, weight, "gradient", rules, categorical, (), close, l2 or 0.0, leaves, extra
    )


def loss_of(est):
    return est.loss_[0] if isinstance(est.loss_, tuple) else est.loss_


def step_of(est):
    if est.step != "auto":
        return est.step
    exact = ("absolute_error", "quantile", "huber", "log_cosh", "smooth_hinge")
    return "exact" if loss_of(est).name in exact else "newton"


def order_and_step(est, h, vector):
    """Of the trees: 1 sums up weights, 2 sums up second derivatives."""
    if est.order is not None:
        return est.order
    by_weight = vector or (
        est.min_weight_fraction_leaf > 0 and loss_of(est).name != "squared_error"
    )
    return 2 if step_of(est) == "newton" and h is not None and not by_weight else 1


def l2_of(est):
    return None if isinstance(est.l2_regularization, str) else est.l2_regularization


def leaf_rule(est, tree, Y, w, F, g, h, columns, step, l2):
    """What leaves may say: a function of the (row, node) pairs, or None if it is not known."""
    rate = est.learning_rate_
    loss = loss_of(est)

    def sums(row, node, terms):
        parts = [np.bincount(node, t[row], minlength=tree.node_count) for t in terms.T]
        return np.column_stack(parts)

    def newton(row, node):
        H = sums(
            row,
            node,
            w[:, None] * (h[:, columns] if step == "newton" else np.ones_like(g)[:, columns]),
        )
        G = sums(row, node, -w[:, None] * g[:, columns])
        size = sums(row, node, np.abs(w[:, None] * g[:, columns]))
        with np.errstate(divide="ignore", invalid="ignore"):
            said = G / (H + l2)
            # Every row is rounded to a unit of 2^-50 of what all would be if all were the largest,
            # and then counts as often as it weighs.
            unit = 2.0**-49 * np.abs(g[:, columns]).max(axis=0) * w.sum()
            rounded = np.bincount(node) + np.bincount(node, w[row])
            doubt = (1e-6 * size + unit * rounded[:, None]) / (H + l2)
        if loss.link.name == "log" and step == "newton":
            said = np.clip(said, -LONGEST, LONGEST)
        sure = (H + l2 > 0) & np.isfinite(said)
        low = np.where(sure, rate * (said - doubt) - 1e-12, -np.inf)
        return low, np.where(sure, rate * (said + doubt) + 1e-12, np.inf)

    def median(row, node):
        r = Y[:, 0] - F[:, 0]
        low, high = medians(r[row], w[row], node, tree.node_count)
        slack = 1e-7 * (np.abs(r).max() + 1e-300)
        return rate * (low - slack)[:, None], rate * (high + slack)[:, None]

    if step in ("newton", "gradient") and l2 is not None:
        return newton
    if step == "exact" and loss.name == "absolute_error" and F.shape[1] == 1:
        return median
    return None


FAMILIES = [
    (SINGLE, of_single),
    (FORESTS, of_forest),
    (BAGS, of_bag),
    (NAIVE, of_naive),
    (ADABOOST, of_adaboost),
    (STAGEWISE, of_stagewise),
    (GRADIENT, of_gradient),
]


def lessons_of(est, table):
    """The lessons of all trees of a fitted model."""
    for kinds, make in FAMILIES:
        if isinstance(est, kinds):
            yield from make(est, table)
            return
    raise LookupError(f"stress.lessons knows nothing of {type(est).__name__}")
