"""The classes and functions that a model file may name, and nothing else.

A name in a file is a key of these tables and never a path to import. It stays the same when a class
moves to another module.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import weald

__all__ = ["class_named", "function_named", "name_of_class", "name_of_function"]

# What weald's estimators are made of, by module; they themselves are weald's public names.
_PARTS = {
    "weald._engine": "Forest Tree",
    "weald.boosting.model": "AdditiveModel Start",
    "weald.boosting.objective": "Objective",
    "weald.boosting.start": "InitModel",
    "weald.callbacks": "EarlyStopping History LearningRateSchedule Progress State TimeLimit",
    "weald.conditional.gate": "Gate",
    "weald.crossfit.fold_mean": "FoldMean",
    "weald.crossfit.pools": "Pool",
    "weald.crossfit.risk_table": "RiskTable",
    "weald.intervals.conformal": "Calibration",
    "weald.kernel.points": "Scaling",
    "weald.kernel.smoother": "Kernel Smoother",
    "weald.losses": (
        "AbsoluteError Exponential Focal Gamma HalfLogit HingeLink Huber Identity Log LogCosh "
        "LogLoss Logit Poisson Quantile SmoothHinge Softmax SoftmaxLink SquaredError Tweedie"
    ),
    "weald.members.foreign_members": "ForeignMembers",
    "weald.members.templates": "Templates",
    "weald.members.trees": "Trees",
    "weald.params.stopping": "Stopping",
    "weald.pruning": "AlphaChoice",
    "weald.sampling": "Sampling",
    "weald.superlearner.smooth": ("LogisticBySize NeighboursBySize RBFFeatures RidgeByLeaveOneOut"),
}
# Classes of other libraries whose fitted state is plain data, or is made so in `compiled`.
_FOREIGN = {
    "sklearn.calibration": "CalibratedClassifierCV _CalibratedClassifier _SigmoidCalibration",
    "sklearn.compose": "ColumnTransformer TransformedTargetRegressor make_column_selector",
    "sklearn.decomposition": "PCA TruncatedSVD",
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": (
        "ExtraTreesClassifier ExtraTreesRegressor RandomForestClassifier RandomForestRegressor"
    ),
    "sklearn.feature_selection": "SelectFromModel SelectKBest SelectPercentile VarianceThreshold",
    "sklearn.impute": "KNNImputer MissingIndicator SimpleImputer",
    "sklearn.isotonic": "IsotonicRegression",
    "sklearn.kernel_approximation": "Nystroem RBFSampler",
    "sklearn.kernel_ridge": "KernelRidge",
    "sklearn.linear_model": (
        "ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor HuberRegressor Lars "
        "Lasso LassoCV LassoLars LinearRegression LogisticRegression LogisticRegressionCV "
        "OrthogonalMatchingPursuit PoissonRegressor QuantileRegressor Ridge RidgeCV "
        "RidgeClassifier RidgeClassifierCV TheilSenRegressor TweedieRegressor"
    ),
    "sklearn.model_selection": (
        "GroupKFold GroupShuffleSplit KFold LeaveOneGroupOut LeaveOneOut LeavePGroupsOut LeavePOut "
        "PredefinedSplit RepeatedKFold RepeatedStratifiedKFold ShuffleSplit StratifiedGroupKFold "
        "StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit"
    ),
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier _ConstantPredictor",
    "sklearn.multioutput": "MultiOutputClassifier MultiOutputRegressor",
    "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neighbors": (
        "KNeighborsClassifier KNeighborsRegressor RadiusNeighborsClassifier "
        "RadiusNeighborsRegressor"
    ),
    "sklearn.pipeline": "FeatureUnion Pipeline",
    "sklearn.preprocessing": (
        "Binarizer FunctionTransformer KBinsDiscretizer LabelBinarizer LabelEncoder MaxAbsScaler "
        "MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder PolynomialFeatures PowerTransformer "
        "QuantileTransformer RobustScaler SplineTransformer StandardScaler TargetEncoder"
    ),
    "sklearn.svm": "LinearSVC LinearSVR NuSVC NuSVR SVC SVR",
    "sklearn.tree": (
        "DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier ExtraTreeRegressor"
    ),
}
_FUNCTIONS = {
    "weald.combining": "mean soft_vote weighted_median weighted_vote",
    "sklearn.feature_selection": (
        "chi2 f_classif f_regression mutual_info_classif mutual_info_regression"
    ),
}


def _names(table: dict[str, str]) -> dict[str, str]:
    """Names to modules; those of scikit-learn, which are also weald's, with a word before them."""
    return {
        (name if module.startswith("weald") else f"sklearn.{name}"): module
        for module, names in table.items()
        for name in names.split()
    }


@cache
def _modules() -> dict[str, str]:
    public = {
        name: module
        for name, module in weald._HOME.items()
        if name.endswith(("Classifier", "Regressor", "Encoder"))
    }
    return {**_names(_FOREIGN), **_names(_PARTS), **public}


@cache
def class_named(name: str) -> Any:
    """The class of this name, or None if a file may not name it."""
    module = _modules().get(name)
    return None if module is None else _found(module, name)


@cache
def name_of_class(kind: type) -> str | None:
    """The name of a class in files, or None if it has none."""
    name = kind.__name__ if kind.__module__.startswith("weald") else f"sklearn.{kind.__name__}"
    return name if class_named(name) is kind else None


@cache
def function_named(name: str) -> Any:
    """The function of this name, or None if a file may not name it."""
    module = _names(_FUNCTIONS).get(name)
    return None if module is None else _found(module, name)


def name_of_function(function: Any) -> str | None:
    """The name of a function in files, or None if it has none."""
    known = getattr(function, "__module__", None) or ""
    plain = getattr(function, "__name__", "")
    name = plain if known.startswith("weald") else f"sklearn.{plain}"
    return name if function_named(name) is function and function is not None else None


def _found(module: str, name: str) -> Any:
    """None if this version of a library has no such name."""
    return getattr(import_module(module), name.split(".")[-1], None)
