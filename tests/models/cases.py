"""Fitted models of every kind, and members of other libraries."""

import warnings

import numpy as np
import pandas as pd
from sklearn import (
    calibration,
    compose,
    decomposition,
    discriminant_analysis,
    dummy,
    ensemble,
    feature_selection,
    impute,
    isotonic,
    kernel_approximation,
    kernel_ridge,
    linear_model,
    multiclass,
    multioutput,
    naive_bayes,
    neighbors,
    pipeline,
    preprocessing,
    svm,
    tree,
)

import weald

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform")


def answers(model, X):
    """What a model says about rows, by method."""
    with np.errstate(all="ignore"):  # the logarithm of a share of 0
        return _answers(model, X)


def _answers(model, X):
    out = {}
    for name in METHODS:
        if hasattr(model, name):
            said = getattr(model, name)(X)
            parts = said if isinstance(said, list) else [said]
            out[name] = [part.toarray() if hasattr(part, "tocsr") else part for part in parts]
    return out


def same_bits(one, other):
    """Whether all answers are the same, bit by bit and of the same types."""
    assert one.keys() == other.keys()
    assert one
    for name, parts in one.items():
        for a, b in zip(parts, other[name], strict=True):
            assert a.dtype == b.dtype
            assert a.shape == b.shape
            if a.dtype == object:
                assert a.tolist() == b.tolist()
            else:
                assert a.tobytes() == b.tobytes()


def numbers(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    real = X[:, 0] - 2 * X[:, 1] + 0.1 * rng.normal(size=n)
    return X, real, np.digitize(real, [-1.0, 1.0])


def mixed(n=90):
    """A table with numbers, categories, text, truth values and missing values."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "height in cm": rng.normal(170, 9, n),
            "town": pd.Categorical(rng.choice(["Ulm", "Köln", "Bern"], n)),
            "word": rng.choice(["a", "bb", "ccc", "日本"], n).astype(object),
            "size": rng.integers(0, 4, n),
            "member": rng.random(n) < 0.5,
        }
    )
    X.loc[rng.random(n) < 0.1, "height in cm"] = np.nan
    X.loc[rng.random(n) < 0.1, "word"] = None
    real = X["size"] + (X["town"] == "Ulm") + rng.normal(size=n)
    return X, np.asarray(real, dtype=float)


def regressors():
    """Regressors of scikit-learn that a file can hold."""
    lm = linear_model
    poly = pipeline.make_pipeline(
        preprocessing.PolynomialFeatures(2), preprocessing.StandardScaler(), lm.Ridge()
    )
    spline = pipeline.make_pipeline(preprocessing.SplineTransformer(4), lm.Ridge())
    return [
        lm.LinearRegression(),
        lm.Ridge(),
        lm.RidgeCV(),
        lm.Lasso(0.01),
        lm.LassoCV(cv=2),
        lm.ElasticNet(0.01),
        lm.ElasticNetCV(cv=2),
        lm.Lars(),
        lm.LassoLars(0.01),
        lm.BayesianRidge(),
        lm.ARDRegression(),
        lm.HuberRegressor(),
        lm.QuantileRegressor(alpha=0.01),
        lm.TheilSenRegressor(random_state=0),
        lm.OrthogonalMatchingPursuit(),
        svm.SVR(),
        svm.NuSVR(kernel="poly"),
        svm.LinearSVR(random_state=0),
        neighbors.KNeighborsRegressor(),
        neighbors.KNeighborsRegressor(algorithm="brute", weights="distance"),
        neighbors.KNeighborsRegressor(algorithm="kd_tree", metric="manhattan"),
        neighbors.KNeighborsRegressor(algorithm="ball_tree", p=3),
        neighbors.RadiusNeighborsRegressor(5.0),
        kernel_ridge.KernelRidge(kernel="rbf"),
        tree.DecisionTreeRegressor(max_depth=4),
        tree.ExtraTreeRegressor(max_depth=4, random_state=0),
        ensemble.RandomForestRegressor(3, max_depth=3, random_state=0),
        ensemble.ExtraTreesRegressor(3, max_depth=3, random_state=0),
        dummy.DummyRegressor(),
        poly,
        spline,
        compose.TransformedTargetRegressor(
            lm.Ridge(), transformer=preprocessing.QuantileTransformer(n_quantiles=20)
        ),
        multioutput.MultiOutputRegressor(lm.Ridge()),
    ]


def classifiers():
    """Classifiers of scikit-learn that a file can hold."""
    lm = linear_model
    return [
        lm.LogisticRegression(),
        lm.LogisticRegressionCV(
            Cs=2, cv=2, l1_ratios=(0,), scoring="neg_log_loss", use_legacy_attributes=False
        ),
        lm.RidgeClassifier(),
        lm.RidgeClassifierCV(),
        svm.SVC(),
        svm.SVC(kernel="linear", decision_function_shape="ovo"),
        svm.NuSVC(nu=0.1),
        svm.LinearSVC(random_state=0),
        neighbors.KNeighborsClassifier(),
        neighbors.KNeighborsClassifier(algorithm="brute"),
        neighbors.RadiusNeighborsClassifier(9.0),
        naive_bayes.GaussianNB(),
        naive_bayes.BernoulliNB(),
        discriminant_analysis.LinearDiscriminantAnalysis(),
        discriminant_analysis.QuadraticDiscriminantAnalysis(),
        tree.DecisionTreeClassifier(max_depth=4),
        tree.ExtraTreeClassifier(max_depth=4, random_state=0),
        ensemble.RandomForestClassifier(3, max_depth=3, random_state=0),
        ensemble.ExtraTreesClassifier(3, max_depth=3, random_state=0),
        dummy.DummyClassifier(),
        multiclass.OneVsRestClassifier(lm.LogisticRegression()),
        multiclass.OneVsOneClassifier(lm.LogisticRegression()),
        calibration.CalibratedClassifierCV(svm.LinearSVC(random_state=0), cv=2),
        calibration.CalibratedClassifierCV(naive_bayes.GaussianNB(), method="isotonic", cv=2),
        pipeline.make_pipeline(
            preprocessing.MinMaxScaler(), naive_bayes.MultinomialNB(), memory=None
        ),
        pipeline.make_pipeline(preprocessing.MinMaxScaler(), naive_bayes.ComplementNB()),
        pipeline.make_pipeline(
            preprocessing.KBinsDiscretizer(3, encode="ordinal", quantile_method="linear"),
            naive_bayes.CategoricalNB(min_categories=3),
        ),
    ]


def transformers():
    """Transformers of scikit-learn that a file can hold."""
    pre = preprocessing
    return [
        pre.StandardScaler(),
        pre.RobustScaler(),
        pre.MaxAbsScaler(),
        pre.MinMaxScaler(),
        pre.Normalizer(),
        pre.Binarizer(),
        pre.PowerTransformer(),
        pre.QuantileTransformer(n_quantiles=20),
        pre.KBinsDiscretizer(3, quantile_method="linear"),
        pre.PolynomialFeatures(3),
        pre.SplineTransformer(),
        pre.SplineTransformer(extrapolation="periodic"),
        pre.TargetEncoder(cv=2, random_state=0),
        pre.OneHotEncoder(handle_unknown="ignore", drop="first"),
        pre.OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=4, drop="first"),
        pre.OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, max_categories=4),
        pre.FunctionTransformer(),
        kernel_approximation.Nystroem(n_components=9, random_state=0),
        kernel_approximation.RBFSampler(n_components=9, random_state=0),
        impute.SimpleImputer(),
        impute.KNNImputer(),
        impute.MissingIndicator(),
        decomposition.PCA(2),
        decomposition.TruncatedSVD(2, random_state=0),
        feature_selection.SelectKBest(k=2),
        feature_selection.VarianceThreshold(),
        feature_selection.SelectFromModel(linear_model.Ridge()),
        pipeline.make_union(pre.StandardScaler(), pre.MaxAbsScaler()),
        weald.TableEncoder(),
        weald.TableEncoder(splines=True),
    ]


def positive():
    """Models of numbers above 0, or of one column."""
    lm = linear_model
    return [lm.PoissonRegressor(), lm.GammaRegressor(), lm.TweedieRegressor(power=1.5)]


def table_pipeline(last):
    """A pipeline for the mixed table that ends in a model."""
    number = pipeline.make_pipeline(impute.SimpleImputer(), preprocessing.StandardScaler())
    word = pipeline.make_pipeline(
        impute.SimpleImputer(strategy="constant", fill_value="?"),
        preprocessing.OneHotEncoder(handle_unknown="ignore"),
    )
    columns = compose.make_column_transformer(
        (number, ["height in cm"]),
        (word, ["word"]),
        (preprocessing.OneHotEncoder(), ["town"]),
        ("passthrough", ["size", "member"]),
    )
    return pipeline.make_pipeline(columns, last)


def quietly(fit, *args, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*args, **more)


IsotonicRegression = isotonic.IsotonicRegression
