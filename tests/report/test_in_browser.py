"""The page in a real browser: clicks, keys, predictions, and nothing that leaves the page.

It needs Debian's Chromium (``apt-get install chromium``) and Playwright's Python package
(``pip install playwright``; its own browsers are not needed).
"""

from __future__ import annotations

import json
import re
import shutil
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pandas as pd
import pytest

import weald
from report.cases import new_rows, numbers, table, three, two
from weald.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
sync_api = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is missing: pip install playwright"
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is missing: apt-get install chromium"
)

EVIL = '<img src=x onerror="document.title = 1">'
MODELS = {
    "tree": (weald.DecisionTreeClassifier(max_depth=5, random_state=0), three),
    "forest": (weald.RandomForestClassifier(12, random_state=0), two),
    "extra-trees": (weald.ExtraTreesRegressor(8, random_state=0), numbers),
    "bagging": (weald.BaggingClassifier(n_estimators=8, voting="hard", random_state=0), three),
    "AdaBoost": (weald.AdaBoostClassifier(n_estimators=10, algorithm="real"), three),
    "AdaBoost, numbers": (weald.AdaBoostRegressor(n_estimators=10, random_state=0), numbers),
    "boosting": (weald.GradientBoostingClassifier(n_estimators=10, random_state=0), three),
    "boosting, numbers": (
        weald.GradientBoostingRegressor(n_estimators=10, random_state=0),
        numbers,
    ),
    "stagewise": (weald.StagewiseClassifier(n_estimators=10), two),
}


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open the report of a model; whatever the page complains of or asks for fails the test."""
    seen = []

    def opened(model, X, y, **settings):
        path = write_report(tmp_path / "report.html", model, X, y, title="A report")
        page = browser.new_page(**({"viewport": {"width": 1200, "height": 900}} | settings))
        page.set_default_timeout(10_000)
        page.on("console", lambda message: seen.append(message.text))
        page.on("pageerror", lambda error: seen.append(str(error)))
        page.on("dialog", lambda dialog: seen.append(dialog.message))
        page.on(
            "request", lambda asked: seen.append(asked.url) if asked.url != path.as_uri() else 0
        )
        page.goto(path.as_uri())
        return page

    yield opened
    assert seen == []


def enter(page, model, row):
    """Type the values of a row into the panel."""
    for j, (value, labels) in enumerate(zip(row, model.categories_, strict=True)):
        missing = value is None or value != value
        field = page.locator(f"#value-{j}")
        if labels is None:
            field.fill("" if missing else repr(float(value)))
        elif field.evaluate("field => field.tagName") == "SELECT":
            known = labels.tolist().index(value) if value in labels else "unknown"
            field.select_option("missing" if missing else str(known))
        else:
            field.fill("" if missing else value)


@pytest.mark.parametrize("name", MODELS)
def test_what_if_equals_python(visit, name):
    model, target = MODELS[name]
    X = table()
    page = visit(model.fit(X, target(X)), X, target(X))
    box = page.locator("#answer")
    rows = pd.concat([new_rows()[:4], X[:2]], ignore_index=True)
    for i in range(len(rows)):
        row = rows[i : i + 1]
        enter(page, model, row.iloc[0].tolist())
        answer = json.loads(box.get_attribute("data-answer"))
        if hasattr(model, "classes_"):
            assert box.get_attribute("data-chosen") == str(model.predict(row)[0])
            assert box.locator("strong").inner_text() == str(model.predict(row)[0])
            np.testing.assert_allclose(answer, model.predict_proba(row)[0], rtol=1e-12, atol=0)
        else:
            np.testing.assert_allclose(answer, model.predict(row), rtol=1e-12, atol=0)


@pytest.mark.parametrize("many", [False, True], ids=["a list", "a field"])
def test_ordered_categories_and_those_never_seen(visit, many):
    """Ones never seen are like those of a single row here, and unlike missing ones."""
    once = 100 if many else 30
    X = pd.DataFrame(
        {"place": [f"p{k % 8}" for k in range(300 - once)] + list(map(str, range(once)))}
    )
    X.loc[:19, "place"] = None
    X["level"] = pd.Categorical(["low", "mid", "high"] * 100, ["low", "mid", "high"], ordered=True)
    y = np.where(X["place"].isna(), -9.0, np.where(np.arange(300) >= 300 - once, 9.0, 0.0))
    y += X["level"].cat.codes
    model = weald.DecisionTreeRegressor(max_leaf_nodes=9).fit(X, y)
    page = visit(model, X, y)
    rows = X[:4].copy()
    rows["place"] = ["never seen", None, "7", "p1"]
    rows["level"] = pd.Categorical(
        ["mid", "high", None, "low"], ["low", "mid", "high"], ordered=True
    )
    for i, (place, level) in enumerate(rows.to_numpy()):
        labels = model.categories_[0].tolist()
        field = page.locator("#value-0")
        if many:
            field.fill(place if isinstance(place, str) else "")
        elif not isinstance(place, str):
            field.select_option("missing")
        else:
            field.select_option(str(labels.index(place)) if place in labels else "unknown")
        page.locator("#value-1").select_option(
            label=level if isinstance(level, str) else "(missing)"
        )
        answer = json.loads(page.locator("#answer").get_attribute("data-answer"))
        np.testing.assert_allclose(answer, model.predict(rows[i : i + 1]), rtol=1e-12)
    assert re.search("level [≤>] (low|mid)", page.locator("#tree").inner_text())


def test_rows_to_start_from(visit):
    model, target = MODELS["forest"]
    X = table()
    page = visit(model.fit(X, target(X)), X, target(X))
    names = page.locator("#row option").all_inner_texts()
    assert len(names) == 24
    for k in (0, 11, 23):
        page.select_option("#row", str(k))
        number = int(names[k].split(",")[0].removeprefix("row ")) - 1
        answer = json.loads(page.locator("#answer").get_attribute("data-answer"))
        said = model.predict_proba(X[number : number + 1])[0]
        np.testing.assert_allclose(answer, said, rtol=1e-12)


# --- the viewer of trees --------------------------------------------------------------------------


def shown(page):
    """Numbers of the nodes that are there, from the top down."""
    return [int(one.removeprefix("node-")) for one in page.eval_on_selector_all(
        "#tree li", "items => items.map(item => item.id)")]  # fmt: skip


def lit(page):
    page.click("#follow")
    return [int(one.removeprefix("node-")) for one in page.eval_on_selector_all(
        "#tree li.lit", "items => items.map(item => item.id)")]  # fmt: skip


@pytest.mark.parametrize("name", ["tree", "forest", "boosting"])
def test_the_way_of_a_row_is_lit(visit, name):
    model, target = MODELS[name]
    X = table()
    page = visit(model.fit(X, target(X)), X, target(X))
    several = name == "boosting"
    for k, member, part in ((0, 1, 0), (9, 1, 0), (9, 5, 2)):
        page.select_option("#row", str(k))
        if name != "tree":
            page.fill("#member", str(member))
            page.dispatch_event("#member", "change")
        if several:
            page.select_option("#part", str(part))
        number = int(page.locator("#row option").nth(k).inner_text().split(",")[0][4:]) - 1
        tree = model if name == "tree" else np.asarray(model.estimators_).reshape(
            len(model.estimators_), -1)[member - 1, part if several else 0]  # fmt: skip
        way = tree.decision_path(X[number : number + 1]).indices.tolist()
        assert lit(page) == sorted(way)
        leaf = max(way)
        assert page.locator("#node h3").inner_text() == f"Leaf {leaf}"
        rows = tree.tree_.n_node_samples[leaf]
        assert f"{rows} training rows" in page.locator("#node").inner_text()


def test_nodes_open_and_close_and_tell_shares_and_counts(visit):
    model, target = MODELS["tree"]
    X = table()
    page = visit(model.fit(X, target(X)), X, target(X))
    tree = model.tree_
    page.click("#fold")
    assert shown(page) == [0]
    page.click("#node-0 > .nodeline")
    right = int(tree.children_right[0])
    assert shown(page) == [0, 1, right]
    page.click("#node-1 > .nodeline")
    assert shown(page) == [0, 1, 2, int(tree.children_right[1]), right]
    assert page.locator("#node h3").inner_text() == "Node 1"
    text = page.locator("#node").inner_text()
    assert f"{tree.n_node_samples[1]} training rows" in text
    for share in tree.value[1, 0]:
        # As JavaScript rounds: 6.25 is 6.3, to Python 6.2.
        assert f"{Decimal(100 * share).quantize(Decimal('0.1'), ROUND_HALF_UP)} %" in text
    page.click("#node-0 > .nodeline")
    assert shown(page) == [0]
    assert page.get_attribute("#node-0", "aria-expanded") == "false"


def test_keys_move_through_the_tree(visit):
    model, target = MODELS["tree"]
    X = table()
    page = visit(model.fit(X, target(X)), X, target(X))
    page.click("#fold")
    page.focus("#node-0")
    chosen = "#tree li[aria-selected=true]"
    right = int(model.tree_.children_right[0])
    for key, node, there in (
        ("ArrowRight", 0, [0, 1, right]),
        ("ArrowRight", 1, [0, 1, right]),
        ("ArrowDown", right, [0, 1, right]),
        ("ArrowUp", 1, [0, 1, right]),
        ("End", right, [0, 1, right]),
        ("ArrowLeft", 0, [0, 1, right]),
        ("Enter", 0, [0]),
        (" ", 0, [0, 1, right]),
        ("Home", 0, [0, 1, right]),
        ("ArrowLeft", 0, [0]),
    ):
        page.keyboard.press(key)
        assert page.get_attribute(chosen, "id") == f"node-{node}", key
        assert page.evaluate("document.activeElement.id") == f"node-{node}", key
        assert shown(page) == there, key


def test_inner_nodes_of_forests_are_those_of_python(visit):
    model, target = MODELS["forest"]
    X = table()
    page = visit(model.fit(X, target(X)), X, target(X))
    tree = model.estimators_[3].tree_
    page.fill("#member", "4")
    page.dispatch_event("#member", "change")
    text = page.locator("#node").inner_text()
    assert f"{tree.n_node_samples[0]} training rows" in text
    assert f"They weigh {tree.weighted_n_node_samples[0]:g}." in text
    for share in tree.value[0, 0]:
        assert f"{100 * share:.1f} %" in text


# --- looks and names ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["AdaBoost", "boosting, numbers"])
def test_a_phone_needs_no_sideways_scrolling(visit, name):
    model, target = MODELS[name]
    X = table().rename(columns={"count": "a_very_long_name_of_a_column_without_any_gap_in_it" * 2})
    y = target(table())
    page = visit(model.fit(X, y), X, y, viewport={"width": 360, "height": 740})
    page.click("#follow")
    for details in page.locator("details").all():
        details.evaluate("one => one.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_light_and_dark(visit):
    model, target = MODELS["tree"]
    X = table()
    backs = set()
    for scheme in ("light", "dark"):
        page = visit(model.fit(X, target(X)), X, target(X), color_scheme=scheme)
        backs.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert backs == {"rgb(255, 255, 255)", "rgb(15, 20, 26)"}


def test_motion_stops_if_asked(visit):
    model, target = MODELS["tree"]
    X = table()
    page = visit(model.fit(X, target(X)), X, target(X), reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_names_in_the_data_do_nothing(visit):
    X = table().rename(columns={"size": EVIL, "colour": "</script>"})
    X.loc[::5, "</script>"] = EVIL
    y = np.where(two(table()) == "yes", EVIL, "no")
    model = weald.RandomForestClassifier(5, random_state=0).fit(X, y)
    page = visit(model, X, y)
    page.click("#follow")
    assert page.title() == "A report"
    assert page.locator("img").count() == 0
    assert EVIL in page.locator("#inputs").inner_text()
