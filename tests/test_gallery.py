"""Every example of the gallery runs, shows what it promises, and is a picture that can be read."""

import sys
from importlib import import_module
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "gallery.md"
PICTURES = ROOT / "docs" / "gallery"
NAMES = sorted(file.stem for file in EXAMPLES.glob("[0-9]*.py"))

sys.path.insert(0, str(EXAMPLES))  # where the examples find what they share
from figures import save  # noqa: E402
from page import INTRODUCTION, section  # noqa: E402

sys.path.remove(str(EXAMPLES))


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Run an example once, and keep what it shows."""
    folder, kept = tmp_path_factory.mktemp("gallery"), {}

    def run(name):
        if name not in kept:
            with pytest.MonkeyPatch.context() as patch:
                patch.syspath_prepend(EXAMPLES)
                kept[name] = save(import_module(name).main, folder)
            kept[name].figure.canvas.draw()
        assert (folder / f"{name}.png").stat().st_size > 2000
        return kept[name]

    return run


# --- the point of each example -------------------------------------------------------------------


def impurity(numbers):
    even, pure = numbers["misclassification"]
    assert even == pure == 0.25
    for criterion, expected in {"gini": (0.375, 1 / 3), "entropy": (0.8113, 0.6887)}.items():
        assert numbers[criterion] == pytest.approx(expected, abs=1e-4)


def bagged_polynomials(numbers):
    for member, _, bag in numbers.values():
        assert bag < 0.8 * member  # a mean varies less than its members
    member, full, bag = numbers["trees"]
    assert bag < 0.6 * full
    member, full, bag = numbers["polynomials"]
    assert bag > full  # least squares gains nothing


def out_of_bag(numbers):
    assert abs(numbers["out_of_bag"] - numbers["test"]) < 2 * numbers["noise"]
    assert numbers["train"] == 0
    assert numbers["left_out"] == pytest.approx(np.exp(-1), abs=0.005)
    assert numbers["gap_after_10"] > 0.03


def votes_and_shares(numbers):
    votes, shares = numbers["error", "votes"], numbers["error", "shares"]
    assert shares[1:6].mean() < votes[1:6].mean() - 0.002
    assert abs(shares[-1] - votes[-1]) < 0.005
    assert (numbers["brier", "shares"] < numbers["brier", "votes"]).all()
    assert numbers["brier", "shares"][-1] < numbers["brier", "votes"][-1] - 0.005


def adaboost_two_moons(numbers):
    assert (numbers["error"] <= numbers["product"]).all()
    assert (numbers["product"] <= numbers["bound"]).all()
    assert (np.diff(numbers["bound"]) < 0).all()
    assert numbers["bound"][-1] < 0.1
    assert numbers["share_of_heaviest"] > 0.5


def stumps_become_strong(numbers):
    assert numbers["stump"] > 0.4
    assert numbers["boosted"] < 0.6 * numbers["tree"] < 0.2
    assert (numbers["edges"] > 0).all()


def margins(numbers):
    left = {label: values.min() for label, values in numbers.items()}
    assert left["bagging, 200 trees"] < left["AdaBoost, 5 rounds"] < 0
    assert 0 < left["AdaBoost, 20 rounds"] < left["AdaBoost, 200 rounds"] - 0.1
    assert np.median(numbers["bagging, 200 trees"]) > np.median(numbers["AdaBoost, 200 rounds"])


def zero_training_error(numbers):
    assert (numbers["train"] == 0).all()
    assert numbers["done"] < 20
    assert numbers["test"] < 0.5 * numbers["test_when_done"]
    assert numbers["margin"] > numbers["margin_when_done"] + 0.2


def l2_boosting(numbers):
    assert (np.diff(numbers["losses"]) <= 0).all()
    assert numbers["steps"] == pytest.approx(np.ones(len(numbers["steps"])))
    assert numbers["losses"][30] < 0.1 * numbers["losses"][0]
    assert numbers["losses"][30] == pytest.approx(numbers["noise"], rel=0.1)


def losses(numbers):
    for loss in ("exponential", "logistic", "smooth hinge"):
        assert (numbers[loss]["value"] >= numbers["0/1"] - 1e-12).all()  # a bound
        assert (numbers[loss]["pull"] >= 0).all()  # towards the label
    assert numbers["exponential"]["pull"][0] > 20 > 2.1 > numbers["smooth hinge"]["pull"].max()
    assert np.abs(numbers["squared"]["pull"]).max() == pytest.approx(4)
    for loss in ("absolute", "Huber", "quantile 0.9"):
        assert np.abs(numbers[loss]["pull"]).max() <= 1


def step_sizes(numbers):
    full, shrunk, small = numbers.values()
    assert full["train"][:100].max() < shrunk["train"][:100].max() < small["train"][:100].max()
    assert shrunk["test"].min() < 0.75 * full["test"].min()
    assert small["test"].min() == pytest.approx(shrunk["test"].min(), rel=0.03)
    assert full["test"].argmin() < 50 < shrunk["test"].argmin() < small["test"].argmin()


def newton_steps(numbers):
    leaf = numbers["leaf"]
    assert leaf["Newton step"] < leaf["gradient step"] < leaf["start"]
    assert numbers["rounds"] < 100
    for part in ("train", "test"):
        assert numbers["second order"][part][-1] < 0.7 * numbers["first order"][part][-1]


def forest_variance(numbers):
    for m in (1, 3, 5):
        few, many = (abs(numbers[m]["measured"] / numbers[m]["predicted"] - 1)[i] for i in (3, -1))
        assert few < 0.2
        assert many < 0.1
    assert (np.diff(numbers["rho"]) > 0).all()
    assert (np.diff(numbers["s2"]) < 0).all()
    assert numbers["best"] in (2, 3, 4)


def super_learner(numbers):
    assert numbers["mixture"] < 0.95 * numbers["test"].min()
    assert (np.argsort(numbers["cv"]) == np.argsort(numbers["test"])).all()
    assert numbers["weights"].sum() == pytest.approx(1)
    assert (numbers["weights"] > 0.05).sum() >= 2


def conditional(numbers):
    error = numbers["error"]
    best = min(error["first gauge"], error["second gauge"])
    assert error["conditional mixture"] < 0.4 * error["one weight everywhere"] < 0.4 * best
    assert numbers["cold"][1] > 0.9
    assert numbers["hot"][0] > 0.9


def bias_variance(numbers):
    tree, bag, forest, stump, boosted = numbers.values()
    assert bag["variance"] < 0.3 * tree["variance"]
    assert bag["bias"] < tree["bias"] + 0.2
    assert forest["variance"] < bag["variance"]
    assert forest["bias"] > bag["bias"]
    assert stump["variance"] < 0.3 * tree["variance"]
    assert boosted["bias"] < 0.2 * stump["bias"]
    for each in numbers.values():
        assert each["error"] == pytest.approx(each["noise"] + each["bias"] + each["variance"])


def rademacher(numbers):
    for each in numbers.values():
        assert each["slope"] == pytest.approx(-0.5, abs=0.03)
        assert (each["value"] < each["massart"]).all()
    ratio = numbers[16]["value"] / numbers[1]["value"]
    assert ((ratio > 1.2) & (ratio < 2)).all()


def pac_bayes(numbers):
    for bound in ("first_order", "tandem"):
        assert (numbers[bound] > numbers["test"]).all()
        assert (np.diff(numbers[bound]) <= 0).all()
    assert numbers["tandem"][0] > numbers["first_order"][0]
    assert numbers["tandem"][-1] < numbers["first_order"][-1] < 0.5


@pytest.mark.parametrize("name", NAMES)
def test_an_example_makes_its_point(shown, name):
    globals()[name[3:]](shown(name).numbers)


# --- the pictures --------------------------------------------------------------------------------


def texts(figure):
    """All texts that are seen, with their boxes in pixels."""
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            room = 1e-6 * (high - low)
            for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
                if low - room <= tick.get_loc() <= high + room:
                    yield tick.label1
            yield axis.label
        yield from (ax.title, *ax.texts)
    for legend in [*figure.legends, *(ax.get_legend() for ax in figure.axes)]:
        if legend is not None:
            yield from (legend.get_title(), *legend.get_texts())


@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_cut_off_or_hides_another(shown, name):
    figure = shown(name).figure
    seen = [text for text in texts(figure) if text.get_visible() and text.get_text().strip()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in seen]
    for label, box in boxes:
        inside = (
            box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
        )
        assert inside, f"{label!r} is cut off"
    for (one, a), (other, b) in combinations(boxes, 2):
        apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 1 or b.y1 <= a.y0 + 1
        assert apart, f"{one!r} and {other!r} overlap"


def drawn(ax):
    """Points of lines and of scattered points in pixels, each with a name."""
    for line in ax.lines:
        if len(line.get_xdata()) > 2:  # reference lines may run below a legend
            yield line.get_label(), line.get_transform().transform(line.get_xydata())
    for dots in ax.collections:
        if len(dots.get_offsets()) > 1:
            yield dots.get_label(), dots.get_offset_transform().transform(dots.get_offsets())


@pytest.mark.parametrize("name", NAMES)
def test_no_legend_hides_data(shown, name):
    for ax in shown(name).figure.axes:
        if (legend := ax.get_legend()) is not None:
            box = legend.get_window_extent()
            for label, points in drawn(ax):
                under = ((points > [box.x0, box.y0]) & (points < [box.x1, box.y1])).all(axis=1)
                assert not under.any(), f"the legend hides {label!r}"


def words(axis):
    """The places of an axis are named themselves."""
    return all(any(map(str.isalpha, each.get_text())) for each in axis.get_ticklabels())


@pytest.mark.parametrize("name", NAMES)
def test_axes_are_named_and_things_are_told_apart(shown, name):
    figure = shown(name).figure
    for ax in figure.axes:
        across, up = ax.get_shared_x_axes(), ax.get_shared_y_axes()  # panels may share a name
        assert any(each.get_xlabel() for each in across.get_siblings(ax)) or words(ax.xaxis)
        assert any(each.get_ylabel() for each in up.get_siblings(ax)) or words(ax.yaxis)
        things = len(ax.lines) + len(ax.collections) + len(ax.containers)
        assert things < 2 or ax.get_legend() or figure.legends or ax.get_title()


# --- the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_an_example_as_it_is(shown, name):
    expected = section(EXAMPLES / f"{name}.py", shown(name).point)
    assert expected in PAGE.read_text(), "make gallery writes the page"


def test_page_pictures_and_examples_are_in_step():
    page = PAGE.read_text()
    assert page.startswith(INTRODUCTION)
    assert page.count("\n## ") == len(NAMES)
    pictures = sorted(PICTURES.iterdir())
    assert [picture.stem for picture in pictures] == NAMES
    sizes = [picture.stat().st_size for picture in pictures]
    assert max(sizes) < 60_000
    assert sum(sizes) < 1_200_000
