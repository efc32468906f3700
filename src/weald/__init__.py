"""weald: ensemble learning on tables, from one decision tree to the super learner.

>>> import weald
>>> weald.DecisionTreeClassifier(max_depth=1).fit([[0], [1]], ["no", "yes"]).predict([[1]])
array(['yes'], dtype='<U3')
"""

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weald import callbacks, losses, models, report, theory
    from weald._engine import threads
    from weald.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from weald.bagging import BaggingClassifier, BaggingRegressor
    from weald.blending import BlendingClassifier, BlendingRegressor
    from weald.boosting import GradientBoostingClassifier, GradientBoostingRegressor
    from weald.conditional import ConditionalClassifier, ConditionalRegressor
    from weald.explain import (
        column_importance,
        explain_path,
        export_graphviz,
        export_text,
        plot_tree,
    )
    from weald.forest import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from weald.input.encoder import TableEncoder
    from weald.kernel import KernelClassifier, KernelRegressor
    from weald.models import ModelFileError, load, save
    from weald.naive import NaiveEnsembleClassifier, NaiveEnsembleRegressor
    from weald.stacking import (
        StackingClassifier,
        StackingRegressor,
        VotingClassifier,
        VotingRegressor,
    )
    from weald.stagewise import StagewiseClassifier, StagewiseRegressor
    from weald.superlearner import SuperLearnerClassifier, SuperLearnerRegressor
    from weald.tree import (
        DecisionTreeClassifier,
        DecisionTreeRegressor,
        ExtraTreeClassifier,
        ExtraTreeRegressor,
    )

__version__ = _version("weald")

# Where each name lives. They are imported when first asked for, so that the command line can
# show its help without loading scikit-learn.
_HOME = {
    "AdaBoostClassifier": "weald.adaboost",
    "AdaBoostRegressor": "weald.adaboost",
    "BaggingClassifier": "weald.bagging",
    "BaggingRegressor": "weald.bagging",
    "BlendingClassifier": "weald.blending",
    "BlendingRegressor": "weald.blending",
    "ConditionalClassifier": "weald.conditional",
    "ConditionalRegressor": "weald.conditional",
    "DecisionTreeClassifier": "weald.tree",
    "DecisionTreeRegressor": "weald.tree",
    "ExtraTreeClassifier": "weald.tree",
    "ExtraTreeRegressor": "weald.tree",
    "ExtraTreesClassifier": "weald.forest",
    "ExtraTreesRegressor": "weald.forest",
    "GradientBoostingClassifier": "weald.boosting",
    "GradientBoostingRegressor": "weald.boosting",
    "KernelClassifier": "weald.kernel",
    "KernelRegressor": "weald.kernel",
    "ModelFileError": "weald.models",
    "NaiveEnsembleClassifier": "weald.naive",
    "NaiveEnsembleRegressor": "weald.naive",
    "RandomForestClassifier": "weald.forest",
    "RandomForestRegressor": "weald.forest",
    "StackingClassifier": "weald.stacking",
    "StackingRegressor": "weald.stacking",
    "StagewiseClassifier": "weald.stagewise",
    "StagewiseRegressor": "weald.stagewise",
    "SuperLearnerClassifier": "weald.superlearner",
    "SuperLearnerRegressor": "weald.superlearner",
    "TableEncoder": "weald.input.encoder",
    "VotingClassifier": "weald.stacking",
    "VotingRegressor": "weald.stacking",
    "callbacks": "weald.callbacks",
    "column_importance": "weald.explain",
    "explain_path": "weald.explain",
    "export_graphviz": "weald.explain",
    "export_text": "weald.explain",
    "load": "weald.models",
    "losses": "weald.losses",
    "models": "weald.models",
    "plot_tree": "weald.explain",
    "report": "weald.report",
    "save": "weald.models",
    "theory": "weald.theory",
    "threads": "weald._engine",
}

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BlendingClassifier",
    "BlendingRegressor",
    "ConditionalClassifier",
    "ConditionalRegressor",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "KernelClassifier",
    "KernelRegressor",
    "ModelFileError",
    "NaiveEnsembleClassifier",
    "NaiveEnsembleRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "StagewiseClassifier",
    "StagewiseRegressor",
    "SuperLearnerClassifier",
    "SuperLearnerRegressor",
    "TableEncoder",
    "VotingClassifier",
    "VotingRegressor",
    "__version__",
    "callbacks",
    "column_importance",
    "explain_path",
    "export_graphviz",
    "export_text",
    "load",
    "losses",
    "models",
    "plot_tree",
    "report",
    "save",
    "theory",
    "threads",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'weald' has no attribute {name!r}")
    home = _import_module(_HOME[name])
    found = home if home.__name__ == f"weald.{name}" else getattr(home, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
