"""One protocol: whatever the members are, they answer the same questions in the same way."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest

from members.cases import CASES, NEW, ROUNDS, X
from weald.members.foreign_members import ForeignMembers
from weald.members.trees import Trees
from weald.members.views import MemberGrid, MemberTrees

WEIGHTS = np.random.default_rng(1).uniform(0.1, 2, ROUNDS)


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def members(case):
    return case.members


def shape_of(case):
    """(n, n_outputs, n_classes), with one "class" for numbers."""
    return case.members.sum(case.rows).shape


def those(holds):
    """Only the cases for which this holds."""
    chosen = [pytest.param(case, id=name) for name, case in CASES.items() if holds(case)]
    return pytest.mark.parametrize("case", chosen)


SAY_NUMBERS = those(lambda case: shape_of(case)[2] == 1)
ARE_TREES = those(lambda case: isinstance(case.members, Trees))
ARE_FOREIGN = those(lambda case: isinstance(case.members, ForeignMembers))
IN_A_GRID = those(lambda case: case.members.grid)
IN_A_ROW = those(lambda case: not case.members.grid)
WERE_DRAWN = those(lambda case: case.members.sampling is not None)
WERE_NOT_DRAWN = those(lambda case: case.members.sampling is None)
VOTE = those(lambda case: case.votes)


def test_there_are_both_kinds():
    assert {type(case.members) for case in CASES.values()} == {Trees, ForeignMembers}
    assert {case.members.per_round for case in CASES.values()} == {1, 3}


def test_rounds_are_counted(case, members):
    assert len(members) == ROUNDS == case.model.n_estimators_
    assert len(members.estimators()) == ROUNDS


# --- sums -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_a_sum_in_parts_is_the_sum_at_once(case, members, weights):
    """To the last bit: that is what staged predictions and warm starts live on."""
    rows = case.rows
    whole = members.sum(rows, weights)
    one_by_one = [members.sum(rows, weights, first=t, last=t + 1) for t in range(ROUNDS)]
    np.testing.assert_array_equal(sum(one_by_one), whole)


@SAY_NUMBERS
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["alike", "weighted"])
def test_a_sum_goes_on_from_where_the_last_one_ended(case, members, weights):
    rows = case.rows
    whole = members.sum(rows, weights)
    for cuts in ([0, 3, ROUNDS], [0, 0, 1, ROUNDS, ROUNDS]):
        total = np.zeros(whole.shape[:2])
        for first, last in pairwise(cuts):
            total = members.sum(rows, weights, first=first, last=last, start=total)[:, :, 0]
        np.testing.assert_array_equal(total, whole[:, :, 0])


@SAY_NUMBERS
def test_a_sum_does_not_touch_its_start(case, members):
    start = np.random.default_rng(2).normal(size=shape_of(case)[:2])
    before = start.copy()
    added = members.sum(case.rows, start=start)
    np.testing.assert_array_equal(start, before)
    np.testing.assert_allclose(added[:, :, 0] - start, members.sum(case.rows)[:, :, 0], atol=1e-12)


def test_threads_change_nothing(case, members):
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(
            members.sum(case.rows, WEIGHTS, n_jobs=threads), members.sum(case.rows, WEIGHTS)
        )


def test_each_one_and_sum_agree(case, members):
    rows = case.rows
    each = members.each(rows, None)
    assert each.shape == (ROUNDS, *shape_of(case))
    np.testing.assert_allclose(each.sum(axis=0), members.sum(rows), atol=1e-12)
    np.testing.assert_allclose(
        np.tensordot(WEIGHTS, each, 1), members.sum(rows, WEIGHTS), atol=1e-12
    )
    if members.per_round == 1:
        for t in range(ROUNDS):
            np.testing.assert_array_equal(members.one(t, rows), each[t])
            np.testing.assert_array_equal(members.sum(rows, first=t, last=t + 1), each[t])


@IN_A_ROW
def test_means(case, members):
    rows = case.rows
    for weights in (None, WEIGHTS):
        mean = members.mean(rows, weights, False, None)
        expected = np.average(members.each(rows, None), axis=0, weights=weights)
        np.testing.assert_allclose(mean, expected, atol=1e-12)


@VOTE
def test_votes(case, members):
    rows = case.rows
    votes = members.sum(rows, vote=True)
    shares = members.each(rows, None)
    for t in range(ROUNDS):
        vote = members.one(t, rows, vote=True)
        np.testing.assert_array_equal(vote.sum(axis=2), 1)
        np.testing.assert_array_equal(vote.argmax(axis=2), shares[t].argmax(axis=2))
    np.testing.assert_array_equal(votes.sum(axis=2), ROUNDS)
    np.testing.assert_allclose(
        members.mean(rows, WEIGHTS, True, None),
        members.sum(rows, WEIGHTS, vote=True) / WEIGHTS.sum(),
    )


# --- the first of them ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, ROUNDS])
def test_a_prefix_says_what_the_first_said(case, members, n):
    first, rows = members.prefix(n), case.rows
    assert type(first) is type(members)
    assert len(first) == n
    for kept in ("seed", "sampling", "per_round", "grid"):
        assert getattr(first, kept) == getattr(members, kept)
    np.testing.assert_array_equal(first.sum(rows), members.sum(rows, last=n))
    np.testing.assert_array_equal(first.each(rows, None), members.each(rows, None)[:n])


def test_nothing_of_them(members):
    nothing = members.prefix(0)
    assert len(nothing) == len(nothing.estimators()) == 0


@SAY_NUMBERS
def test_the_sum_of_nothing(case, members):
    nothing = members.prefix(0).sum(case.rows)
    np.testing.assert_array_equal(nothing, np.zeros(shape_of(case)))


def test_a_prefix_is_added_to_and_the_rest_stays(case, members):
    rows, before = case.rows, members.sum(case.rows)
    first = members.prefix(3)
    if isinstance(members, Trees):
        first.add([forest.prefix(2) for forest in members.forests])
    elif members.factors is None:
        first.add(members.members[: 2 * members.per_round])
    else:
        pairs = zip(members.members, members.factors, strict=True)
        first.add([*pairs][: 2 * members.per_round])
    assert (len(first), len(members)) == (5, ROUNDS)
    np.testing.assert_array_equal(members.sum(rows), before)
    if members.sampling is None or members.sampling.columns == 0:
        np.testing.assert_array_equal(first.each(rows, None)[3:], members.each(rows, None)[:2])


# --- estimators -----------------------------------------------------------------------------------


@IN_A_ROW
def test_estimators_of_rounds_with_one_member(case, members):
    seen = members.estimators()
    assert isinstance(seen, MemberTrees if isinstance(members, Trees) else list)
    assert type(seen[0]) is type(seen[-1]) is type(case.model.estimators_[0])
    drawn = members.sampling is not None and members.sampling.columns > 0
    said = members.each(case.rows, None)
    for t, member in enumerate(seen):
        rows = NEW[:, members.columns_of(t)] if drawn else NEW
        if hasattr(member, "predict_proba"):
            np.testing.assert_allclose(member.predict_proba(rows), said[t][:, 0], atol=1e-12)
        else:
            answer = np.reshape(member.predict(rows), said[t][:, :, 0].shape)
            np.testing.assert_allclose(answer, said[t][:, :, 0], atol=1e-12)


@IN_A_GRID
def test_estimators_of_rounds_with_several_members(case, members):
    seen = members.estimators()
    assert isinstance(seen, MemberGrid)
    assert seen.shape == (ROUNDS, members.per_round)
    said = members.each(case.rows, None)
    factors = np.ones(len(said) * seen.shape[1]) if isinstance(members, Trees) else members.factors
    for t in range(ROUNDS):
        assert seen[t].shape == (members.per_round,)
        for k in range(members.per_round):
            factor = factors[t * members.per_round + k]
            np.testing.assert_allclose(
                factor * seen[t, k].predict(NEW), said[t][:, k, 0], rtol=1e-9, atol=1e-12
            )
    assert repr(seen) == f"<{ROUNDS} rounds of {members.per_round}>"


def test_estimators_cannot_be_changed_from_outside(members):
    seen = members.estimators()
    if isinstance(seen, list):
        seen.clear()
        assert len(members.estimators()) == ROUNDS
    else:
        with pytest.raises(TypeError, match="does not support item assignment"):
            seen[0] = None


@ARE_TREES
def test_leaves_and_importances_of_trees(case, members):
    leaves = members.leaves(case.rows, None)
    assert leaves.shape == (len(NEW), ROUNDS, members.per_round)
    importances = members.importances()
    assert importances.shape == (ROUNDS, members.per_round, X.shape[1])
    seen = members.estimators()
    for t in range(ROUNDS):
        for k in range(members.per_round):
            tree = seen[t, k] if members.grid else seen[t]
            if tree.n_features_in_ == X.shape[1]:
                np.testing.assert_array_equal(leaves[:, t, k], tree.apply(NEW))
    nothing = members.prefix(0)
    assert nothing.leaves(case.rows, None).shape == (len(NEW), 0, members.per_round)
    assert nothing.importances().shape == (0, members.per_round, X.shape[1])


@ARE_FOREIGN
def test_others_have_no_leaves(case, members):
    with pytest.raises(AttributeError, match="Leaves are for weald's own trees"):
        members.leaves(case.rows, None)


@WERE_NOT_DRAWN
def test_draws_that_nobody_made(members):
    for ask in (members.in_bag, lambda: members.rows_of(0), lambda: members.columns_of(0)):
        with pytest.raises(AttributeError, match="not drawn rows of their own"):
            ask()


@WERE_DRAWN
def test_draws_are_known(members):
    counts = members.in_bag()
    assert counts.shape == (ROUNDS, len(X))
    for t in range(ROUNDS):
        rows = members.rows_of(t)
        np.testing.assert_array_equal(np.bincount(rows, minlength=len(X)), counts[t])


# --- as plain things ------------------------------------------------------------------------------


def test_the_state_is_plain(case, members):
    """All but other libraries' estimators is JSON and arrays, and tells all of it."""
    state = members.state()
    values = json.loads(json.dumps(state.values))
    assert values["kind"] == type(members).__name__.lower()
    assert (values["seed"], values["per_round"]) == (members.seed, members.per_round)
    assert all(isinstance(array, np.ndarray) for array in state.arrays.values())
    assert not any(array.dtype == object for array in state.arrays.values())
    if isinstance(members, Trees):
        assert state.objects == []
        assert [each["from"] for each in values["templates"]] == [0]
        nodes = sum(forest.node_counts.sum() for forest in members.forests)
        assert max(map(len, state.arrays.values())) >= nodes / len(members.forests)
    else:
        assert state.objects == members.members
        assert state.objects is not members.members
        expected = [] if members.factors is None else ["factors"]
        assert list(state.arrays) == expected


def test_the_state_grows_with_the_rounds(members):
    few, all_of_them = members.prefix(2).state(), members.state()
    assert set(few.values) == set(all_of_them.values)
    assert set(few.arrays) == set(all_of_them.arrays)
    small, large = (
        sum(array.nbytes for array in state.arrays.values()) + len(state.objects)
        for state in (few, all_of_them)
    )
    assert small < large


def test_a_pickle_says_the_same(case, members):
    again = pickle.loads(pickle.dumps(members))
    np.testing.assert_array_equal(again.sum(case.rows, WEIGHTS), members.sum(case.rows, WEIGHTS))
    ours, theirs = members.state(), again.state()
    assert ours.values == theirs.values
    for name, array in ours.arrays.items():
        np.testing.assert_array_equal(theirs.arrays[name], array)


@pytest.mark.parametrize(
    ("name", "bad", "part"),
    [
        ("seed", -1, "its seed"),
        ("per_round", 0, "the members of a round"),
        ("grid", "no", "the order of its members"),
        ("sampling", 3, "its draws"),
    ],
)
def test_a_damaged_pickle_is_refused(members, name, bad, part):
    broken = object.__new__(type(members))
    kind = type(members).__name__
    with pytest.raises(ValueError, match=f"^Not a valid {kind}: {part} cannot be right"):
        broken.__setstate__({**vars(members), name: bad})
