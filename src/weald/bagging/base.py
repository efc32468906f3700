"""What bagging and naive ensembles share: the course of a fit, and questions to the members."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)
from sklearn.utils.metaestimators import available_if

from weald import _engine as engine
from weald import combining
from weald._engine import FloatArray, IntArray
from weald.bagging.learners import BaggingForeignLearner, BaggingTreeLearner
from weald.fitting.independent import IndependentMembers, drive_members
from weald.fitting.warm_start import (
    check_same,
    check_size,
    drawing_of,
    kind_of,
    kind_of_members,
    shape_of,
)
from weald.input.fit_data import FitData, read_fit
from weald.input.state import SavedEstimator, check_attributes, numbers, require
from weald.input.targets import all_or_nothing
from weald.members.base import Members
from weald.members.ensemble import DrawingEnsemble
from weald.members.foreign import check_member, make_member
from weald.members.foreign_members import ForeignMembers
from weald.members.formula import Formula, NoFormula, mean_formula
from weald.members.out_of_bag import OutOfBag, watch_settings
from weald.members.tags import like_members
from weald.members.templates import grown_by_engine
from weald.members.weighted_out_of_bag import WeightedOutOfBag
from weald.params.ensembles import BaggingParams
from weald.params.growth import resolve_seed
from weald.params.warnings import warn_user
from weald.sampling import Sampling

__all__ = ["BaggingBase", "member_has"]


def member_has(name: str) -> Any:
    """Whether the members have a method, for `available_if`."""

    def check(self: Any) -> bool:
        getattr(self._get_estimator(), name)  # says what is missing
        return True

    return check


class BaggingBase(DrawingEnsemble, SavedEstimator, MetaEstimatorMixin, BaseEstimator):
    """What every ensemble of equal members shares."""

    seed_: int
    n_outputs_: int
    _costs: FloatArray | None = None  # of mistakes, which soft votes of the members mind
    _combine: Any = None  # how members become one prediction; None: by their mean

    # --- pickling --------------------------------------------------------------------------------

    def _check_state(self) -> None:
        check_attributes(self)
        self._check_members()
        if "_members" not in vars(self):
            return
        members, sampling = self._members, self._members.sampling
        if sampling is None:
            raise ValueError(f"Not a valid {type(self).__name__}: its draws are missing.")
        require(sampling.n_columns in (0, self.n_features_in_), self, "how columns were drawn")
        require(isinstance(self._vote, bool), self, "how members vote")
        n, weights = len(members), self._weights
        require(weights is None or (numbers(weights, n, 0) and weights.any()), self, "its weights")
        if isinstance(members, ForeignMembers):
            known = self.n_classes_ if "classes_" in vars(self) else 0
            require(members.n_classes == known, self, "the number of classes")

    # --- what the kinds of ensembles and targets differ in ---------------------------------------

    @abstractmethod
    def _get_estimator(self) -> Any:
        """The member to be copied."""

    @abstractmethod
    def _resolve(self, threads: int) -> BaggingParams:
        """Check the parameters."""

    @abstractmethod
    def _resolve_draw(self, n: int, weights: FloatArray | None, groups: Any) -> Sampling:
        """Which rows and columns each member sees."""

    @abstractmethod
    def _read_member_target(self, y: Any, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The targets (n, n_outputs) as codes or numbers, and as members of any kind want them."""

    @abstractmethod
    def _watch_settings(self, target: npt.NDArray[Any]) -> dict[str, Any]:
        """How the out-of-bag prediction of these targets is scored."""

    def _member_of(self, t: int, seed: int) -> Any:
        """Member t, not fitted yet."""
        return make_member(self.estimator_, seed, classes=self.__dict__.get("classes_"))

    def _grows_trees(self) -> bool:
        """All members are trees that the engine can grow in one call."""
        return grown_by_engine(self._get_estimator())

    # --- fit -------------------------------------------------------------------------------------

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: dict[str, Any]
    ) -> Any:
        """Read, draw, fit the members, and keep what comes of it."""
        _raise_for_params(fit_params, self, "fit")
        with all_or_nothing(self):
            before = dict(self.__dict__)
            self.estimator_ = self._checked_estimator()
            self._costs = None
            learner, threads = self._learner(fit_params)
            params = self._resolve(threads)
            data = read_fit(self, X, y, sample_weight, tree=learner.tree, reader=learner)
            sampling = self._resolve_draw(len(data), data.weights, groups)
            old = self._continue(before, params, sampling)
            self.seed_ = resolve_seed(self.random_state) if old is None else before["seed_"]
            members, make = learner.begin(data, sampling, self.seed_, old)
            watch = self._watch(data, sampling, params)
            work = IndependentMembers(make, members, watch, data.X, self.n_jobs)
            drive_members(work, self, params)
            self._members = work.members
            self.n_estimators_ = len(work)
            self._keep_scores(watch)
            self._keep_weights(params, watch)
            self._vote, self._combine = params.vote, params.combine
            return self

    def _learner(
        self, fit_params: dict[str, Any]
    ) -> tuple[BaggingTreeLearner | BaggingForeignLearner, int]:
        """What makes the members, and how many of them at a time."""
        n_jobs = engine.check_n_jobs(self.n_jobs)
        routed = self._routed("fit", fit_params).get("fit", {})
        if self._grows_trees():
            return BaggingTreeLearner(self), engine.resolve_threads(n_jobs)
        return BaggingForeignLearner(self, routed), effective_n_jobs(n_jobs)

    def _checked_estimator(self) -> Any:
        return check_member(self._get_estimator())

    def _routed(self, method: str, params: dict[str, Any]) -> Bunch:
        """What of the metadata goes to the members, by their methods."""
        if not _routing_enabled():
            return Bunch()
        routed: Bunch = process_routing(self, method, **params).estimator
        return routed

    def _continue(
        self, before: dict[str, Any], params: BaggingParams, sampling: Sampling
    ) -> Members | None:
        """The members there are already, to be added to (warm start); None for new ones."""
        if not params.warm_start or "_members" not in before:
            return None
        old: Members = before["_members"]
        assert old.sampling is not None
        now = kind_of(self.estimator_, self._grows_trees())
        check_same(
            kind_of_members(old) | shape_of(before) | drawing_of(old.sampling),
            now | shape_of(self.__dict__) | drawing_of(sampling),
        )
        check_size(params.n_estimators, len(old))
        return old.prefix(len(old))  # a copy: the old one stays if the fit fails

    def _watch(self, data: FitData, sampling: Sampling, params: BaggingParams) -> OutOfBag | None:
        """A watch over the out-of-bag score, if it is asked for."""
        needed = params.out_of_bag or params.weigh_by_oob
        if not sampling.draws_rows and needed:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True, or if max_samples is less "
                "than all rows."
            )
        if not sampling.draws_rows and params.patience is not None:
            warn_user(
                f"n_iter_no_change={params.patience} watches the out-of-bag score, but no row is "
                "left out: all n_estimators members are fitted."
            )
        if not sampling.draws_rows or not (needed or params.patience is not None):
            return None
        settings = {
            **self._watch_settings(data.y),
            **watch_settings(sampling, params),
            "vote": params.vote,
        }
        if params.weigh_by_oob or params.weights is not None:
            return WeightedOutOfBag(data.y, given=params.weights, **settings)
        return OutOfBag(data.y, **settings)

    def _keep_weights(self, params: BaggingParams, watch: OutOfBag | None) -> None:
        """Note the members' weights; None if they all count alike."""
        self._weights: FloatArray | None = None
        if params.weights is not None:
            chosen = params.weights[: self.n_estimators_]
            if not chosen.any():
                raise ValueError(
                    f"weighting gives no weight to any of the {self.n_estimators_} members."
                )
            self._weights = combining.normalised(chosen)
        elif params.weigh_by_oob:
            assert isinstance(watch, WeightedOutOfBag)
            self._weights = combining.normalised(watch.weights)

    # --- questions -------------------------------------------------------------------------------

    def _mean(self, X: Any, method: str, params: dict[str, Any]) -> FloatArray:
        """What the members say together, shape (n, n_outputs, n_classes)."""
        members = self._fitted_members_for(method, params)
        routed = self._routed(method, params)
        asked = routed.get("predict_proba", routed.get("predict"))
        rows = members.read(self, X)
        if self._combine is None:
            return members.mean(rows, self._weights, self._vote, self.n_jobs, asked)
        return self._combined(members.each(rows, self.n_jobs, self._vote, asked))

    def _combined(self, answers: FloatArray) -> FloatArray:
        """What the members say together by `combine`, asked about one output after the other."""
        _, n, n_outputs, n_classes = answers.shape
        found = np.empty((n, n_outputs, n_classes))
        for k in range(n_outputs):
            said = answers[:, :, k] if hasattr(self, "classes_") else answers[:, :, k, 0]
            together = np.asarray(self._combine(said, self.member_weights_), dtype=np.float64)
            if together.shape != said.shape[1:]:
                raise ValueError(
                    f"combine must return an array of shape {said.shape[1:]} for answers of shape "
                    f"{said.shape}, got {together.shape}."
                )
            found[:, k] = together.reshape(n, n_classes)
        return found

    def _fitted_members_for(self, method: str, params: dict[str, Any]) -> Members:
        """The members, if there are any and these parameters may go to them."""
        if params:
            _raise_for_params(params, self, method)
        return self._fitted_members()

    @property
    def _combination(self) -> str:
        if self._combine is not None:
            return "other"
        return "votes" if self._vote else "mean"

    def _formula(self) -> Formula:
        if self._combine is not None:
            raise NoFormula("Its members are combined by a function of the user's own.")
        return mean_formula(self, self._weights, vote=self._vote)

    @available_if(lambda self: self._grows_trees())  # type: ignore[untyped-decorator]
    def apply(self, X: Any) -> IntArray:
        """Number of the leaf each row ends in, in each tree; shape (n, n_estimators_)."""
        return super().leaf_index(X)

    @available_if(lambda self: self._grows_trees())  # type: ignore[untyped-decorator]
    def leaf_index(self, X: Any) -> IntArray:
        """The same as :meth:`apply`, by the name all of weald's ensembles have for it."""
        return super().leaf_index(X)

    @property
    def estimators_features_(self) -> list[IntArray]:
        """The columns of each member."""
        members = self._fitted_members()
        return [members.columns_of(t) for t in range(len(members))]

    @property
    def member_weights_(self) -> FloatArray:
        """Weight of each member in the ensemble, 1 on average."""
        members = self._fitted_members()
        return np.ones(len(members)) if self._weights is None else self._weights

    # --- scikit-learn's conventions --------------------------------------------------------------

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the members, as in scikit-learn.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
        """
        member = self._get_estimator()
        shares = "predict_proba" if hasattr(member, "predict_proba") else "predict"
        if getattr(self, "voting", "soft") == "hard":
            shares = "predict"
        logs = "predict_log_proba" if hasattr(member, "predict_log_proba") else shares
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for caller, callee in (
            ("decision_function", "decision_function"),
            ("predict", shares),
            ("predict_proba", shares),
            ("predict_log_proba", logs),
        ):
            mapping.add(caller=caller, callee=callee)
        # What a user asked for by `set_fit_request` comes to the ensemble itself; what the members
        # asked for passes through it. Nothing else needs a decision, as in scikit-learn.
        own = self._get_metadata_request()
        for name in [name for name, alias in own.fit.requests.items() if alias is None]:
            del own.fit.requests[name]
        router = MetadataRouter(owner=self).add_self_request(own)
        return router.add(estimator=member, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        return like_members(tags, self._get_estimator(), multi_output=True)
