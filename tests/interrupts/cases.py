"""The jobs that are interrupted: one for everything public that can run for more than a second.

A case makes its job, which would take several seconds or, where it cannot be made to, is called
over and over.
"""

from functools import partial

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import weald
from interrupts.jobs import (
    BOOSTED,
    COMBINED,
    CONDITIONAL,
    DRAWN,
    ENDLESS,
    FOREIGN,
    FORESTS,
    GRADIENT,
    KERNEL,
    MANY,
    MIXED,
    NAIVE,
    STAGEWISE,
    TREES,
    asking,
    calibrated,
    chain,
    chain_tree,
    command,
    draws,
    encoded,
    fit,
    fitted,
    fitting,
    foreign,
    foreign_fit,
    importance,
    is_classifier,
    long_column,
    many_columns,
    mixture_asked,
    mixture_calibrated,
    mixture_fit,
    noise,
    of_rows,
    pruned_by_rows,
    seen,
    table,
    weakest_links,
)
from weald import _engine as engine
from weald import explain

# Name: a function that makes the job. A name begins with the method it is about, so that a test can
# compare the table with the methods there are.
CASES = {
    "export_text": lambda: partial(explain.export_text, chain_tree(3000), max_depth=None),
    "export_graphviz": lambda: partial(explain.export_graphviz, chain_tree(20_000), None),
    "explain_path": lambda: partial(
        explain.explain_path, chain_tree(3000), np.arange(3000.0)[:, None]
    ),
    "weald fit": command,
    "the weakest links of a chain": lambda: partial(engine.pruning_path, *chain(60_000)),
    "one long column": long_column,
    "very many columns": lambda: partial(
        weald.DecisionTreeRegressor(max_depth=3).fit, *many_columns(2000, 20_000)
    ),
    "a large forest's paths": lambda: partial(
        fitted(weald.RandomForestRegressor).decision_path, table(300_000)[0]
    ),
    "the paths of a chain": lambda: partial(
        chain_tree(20_000).decision_path, np.full((5000, 1), 1e9)
    ),
    "far down a chain": lambda: partial(chain_tree(200_000).apply, np.full((20_000, 1), 1e9)),
    "many residuals": lambda: fitting(
        weald.GradientBoostingRegressor, rows=5_000_000, loss="absolute_error"
    ),
    "many medians": lambda: fitting(
        weald.DecisionTreeRegressor, noise, 3_000_000, criterion="absolute_error"
    ),
    "as many draws as can be": partial(draws, weighted=False),
    "as many draws as can be, by weight": partial(draws, weighted=True),
}


def add(kinds, **methods):
    """For each kind of model and method, its case."""
    for kind in kinds:
        for method, make in methods.items():
            name = f"{kind.__name__}.{method.replace('__', ' ')}"
            assert name not in CASES
            CASES[name] = partial(make, kind)


add(
    TREES,
    fit=fit(data=noise, rows=1_000_000),
    fit__by_folds=fit(data=noise, rows=100_000, ccp_alpha="cv"),
    cost_complexity_pruning_path=lambda kind: weakest_links(kind),
    prune=lambda kind: pruned_by_rows(kind),
    predict=of_rows("predict", MANY),
    apply=of_rows("apply"),
    decision_path=of_rows("decision_path"),
    explain_path=of_rows("explain_path", 50_000),
    feature_importances_=seen("feature_importances_"),
)
add(
    TREES[1::2],
    fit__to_medians=fit(data=noise, rows=300_000, criterion="absolute_error"),
)
add(
    TREES[::2],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
)
add(
    FORESTS,
    fit=fit(n_estimators=ENDLESS),
    fit__large=fit(data=noise, rows=1_000_000, n_estimators=4),
    fit__out_of_bag=fit(n_estimators=ENDLESS, bootstrap=True, oob_score=True),
    fit__pruned=fit(data=noise, rows=300_000, n_estimators=4, ccp_alpha=1e-9),
    predict=of_rows("predict"),
    apply=of_rows("apply", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    decision_path=of_rows("decision_path", 50_000),
    member_predictions=of_rows("member_predictions", 500_000),
    importance=lambda kind: importance(kind, "permutation", ("bootstrap", True)),
    importance__unbiased=lambda kind: importance(kind, "unbiased", ("bootstrap", True)),
    in_bag_=seen("in_bag_", ("bootstrap", True)),
    estimators_=seen("estimators_"),
    estimators_samples_=seen("estimators_samples_", ("bootstrap", True)),
    feature_importances_=seen("feature_importances_"),
)
add(
    FORESTS[::2],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
)
add(
    FORESTS[1::2],
    calibrate=of_rows("calibrate", targets=True),
    predict_interval=of_rows("predict_interval", MANY, ("bootstrap", True), ("oob_score", True)),
    predict_quantiles=of_rows("predict_quantiles", 100_000, ("keep_targets", True)),
    fit__to_medians=fit(data=noise, rows=100_000, n_estimators=4, criterion="absolute_error"),
)
add(
    DRAWN + NAIVE,
    fit=fit(n_estimators=ENDLESS),
    fit__foreign=foreign_fit(n_estimators=ENDLESS),
    fit__foreign_in_threads=foreign_fit(n_estimators=ENDLESS, n_jobs=2),
    predict=of_rows("predict"),
    predict__foreign=foreign("predict"),
    apply=of_rows("apply", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    member_predictions=of_rows("member_predictions", 500_000),
    member_predictions__foreign=foreign("member_predictions"),
    in_bag_=seen("in_bag_"),
    estimators_=seen("estimators_"),
    estimators_samples_=seen("estimators_samples_"),
    estimators_features_=seen("estimators_features_"),
)
add(
    DRAWN,
    fit__out_of_bag=fit(n_estimators=ENDLESS, oob_score=True),
    fit__foreign_out_of_bag=foreign_fit(n_estimators=ENDLESS, oob_score=True),
    importance=lambda kind: importance(kind, "permutation"),
    importance__foreign=lambda kind: importance(
        kind, "permutation", ("estimator", FOREIGN[is_classifier(kind)])
    ),
)
add(
    [DRAWN[0], NAIVE[0]],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
    predict_log_proba__foreign=foreign("predict_log_proba"),
    decision_function__foreign=lambda kind: asking(
        kind, "decision_function", 200_000, ("estimator", LinearDiscriminantAnalysis())
    ),
)
add(
    BOOSTED,
    fit=fit(n_estimators=ENDLESS),
    fit__foreign=foreign_fit(n_estimators=ENDLESS),
    predict=of_rows("predict"),
    predict__foreign=foreign("predict"),
    staged_predict=of_rows("staged_predict", 500_000),
    staged_score=of_rows("staged_score", 500_000, targets=True),
    member_predictions=of_rows("member_predictions", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    estimators_=seen("estimators_"),
    feature_importances_=seen("feature_importances_"),
)
add(
    STAGEWISE,
    fit=fit(n_estimators=ENDLESS),
    predict=of_rows("predict"),
    staged_predict=of_rows("staged_predict", 500_000),
    staged_score=of_rows("staged_score", 500_000, targets=True),
    member_predictions=of_rows("member_predictions", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    estimators_=seen("estimators_"),
)
add(
    GRADIENT,
    fit=fit(n_estimators=ENDLESS),
    fit__large=fit(rows=MANY, n_estimators=ENDLESS),
    predict=of_rows("predict", 3 * MANY),
    apply=of_rows("apply", 500_000),
    leaf_index=of_rows("leaf_index", 500_000),
    member_predictions=of_rows("member_predictions", 500_000),
    staged_predict=of_rows("staged_predict"),
    staged_score=of_rows("staged_score", targets=True),
    estimators_=seen("estimators_"),
    feature_importances_=seen("feature_importances_"),
)
add(GRADIENT[1:], score=of_rows("score", targets=True))
add(
    [BOOSTED[1], GRADIENT[1]],
    calibrate=of_rows("calibrate", 3 * MANY, targets=True),
    predict_interval=of_rows("predict_interval", 3 * MANY, ("calibration", 2)),
)
add(
    DRAWN[1:],
    calibrate=of_rows("calibrate", targets=True),
    predict_interval=of_rows("predict_interval", MANY, ("oob_score", True)),
)
add(NAIVE[1:], calibrate=of_rows("calibrate", targets=True), predict_interval=calibrated)
add(
    [BOOSTED[0], STAGEWISE[0], GRADIENT[0]],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
    decision_function=of_rows("decision_function"),
    staged_predict_proba=of_rows("staged_predict_proba", 500_000),
    staged_decision_function=of_rows("staged_decision_function", 500_000),
)
add(
    KERNEL,
    fit=fit(data=noise, rows=1_000_000),
    fit__to_a_rule=fit(data=noise, rows=1_000_000, bandwidth="scott"),
    predict=of_rows("predict"),
    predict__of_near_rows=of_rows("predict", MANY, ("bandwidth", 0.1)),
)
add(
    KERNEL[:1],
    predict_proba=of_rows("predict_proba"),
    predict_log_proba=of_rows("predict_log_proba"),
)
add(
    COMBINED,
    fit=mixture_fit(),
    member_predictions=mixture_asked("member_predictions", 500_000),
    predict=mixture_asked("predict", 500_000),
)
add(MIXED, cv_risk=mixture_fit("cv_risk"))
add(
    [kind for kind in COMBINED if hasattr(kind, "calibrate")],
    calibrate=mixture_calibrated("calibrate"),
    predict_interval=mixture_calibrated("predict_interval"),
)
add(
    MIXED[::2],
    predict_proba=mixture_asked("predict_proba", 500_000),
    predict_log_proba=mixture_asked("predict_log_proba", 500_000),
)
add(
    CONDITIONAL,
    gate_weights=mixture_asked("gate_weights", 500_000),
    ruling_member=mixture_asked("ruling_member", 500_000),
    plot_regions=mixture_asked("plot_regions", 20_000),
)
add([weald.TableEncoder], fit=encoded("fit"), transform=encoded("transform"))

# Of members that are not weald's trees these only look something up.
QUICK_OF_COMBINED = {"estimators_", "gate_", "leaf_index"}

# Methods that only look something up.
QUICK = {
    "get_feature_names_out",
    "get_params",
    "set_params",
    "estimator_",
    "estimator_errors_",
    "estimator_weights_",
    "feature_importances_std_error_",
    "forest_",
    "get_depth",
    "get_metadata_routing",
    "get_n_leaves",
    "member_weights_",
    "calibration_",
    "save",
    "n_trees_per_iteration_",
}
