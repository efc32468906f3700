"""The page: complete in itself, safe from the names in the data, and readable."""

import json
import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression

import weald
import weald.report
from report.cases import numbers, table, three, two
from weald.report import embedded_trees, write_report
from weald.report.charts import Axis, Chart, Series, tidy_step, words

EVIL = '<script>alert("x")</script>&amp;</script><!--'
BOARD = [
    {"method": "boosting <b>", "score": 0.87, "standard_error": 0.01, "seconds": 2.0},
    {"method": "tree", "score": 0.7, "standard_error": None, "seconds": None},
]
VOID = {"meta", "link", "input", "br", "line", "circle", "path", "rect", "polygon"}


class Reading(HTMLParser):
    """Every tag is closed; what the page holds."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.ids, self.text, self.attributes = [], Counter(), [], [], []
        self.headings = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        self.attributes += [(tag, *one) for one in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags[tag] += 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def page(tmp_path, model, X, y, **settings):
    given = {"title": "A title", "leaderboard": BOARD, "notes": ["A note."]} | settings
    return write_report(tmp_path / "report.html", model, X, y, **given).read_text(encoding="utf-8")


def evil_table():
    X = table()
    X[EVIL] = np.random.default_rng(0).normal(size=len(X))
    X.loc[::7, "colour"] = EVIL
    return X


def model_data(text):
    found = re.search(r'<script type="application/json" id="model-data">(.*?)</script>', text)
    return json.loads(found[1])


def test_names_in_the_data_stay_text(tmp_path):
    X = evil_table()
    y = np.where(two(X) == "yes", EVIL, "no")
    model = weald.RandomForestClassifier(5, random_state=0).fit(X, y)
    text = page(
        tmp_path,
        model,
        X,
        y,
        title=EVIL,
        notes=[EVIL],
        leaderboard=[{"method": EVIL, "score": 0.5, "standard_error": 0.1, "seconds": 1}],
    )
    reading = Reading(text)
    assert reading.tags["script"] == 3  # the data, and two of ours
    assert "alert(" not in "".join(re.findall(r"<script>.*?</script>", text, re.S))
    assert EVIL not in text
    data = model_data(text)
    assert data["columns"][-1]["name"] == EVIL
    assert EVIL in data["columns"][2]["labels"]
    assert EVIL in data["classes"]
    assert EVIL in "".join(reading.text)


def test_text_that_no_page_can_hold(tmp_path):
    """Half a pair of surrogates."""
    X = np.array([["\ud800"], ["b"]] * 40, dtype=object)
    y = np.array(["no", "yes"] * 40)
    text = page(tmp_path, weald.DecisionTreeClassifier().fit(X, y), X, y)
    assert "\\ud800 (50%)" in text


def test_ordered_categories_and_those_never_seen(tmp_path):
    """What the page needs to know to say of them what Python says."""
    X = table()
    X["place"] = [f"p{min(k // 30, 8)}" if k < 270 else f"once {k}" for k in range(len(X))]
    X["level"] = pd.Categorical(["low", "high"] * 150, categories=["low", "high"], ordered=True)
    model = weald.RandomForestRegressor(5, random_state=0).fit(X, numbers(X))
    columns = model_data(page(tmp_path, model, X, numbers(X)))["columns"]
    known = {column["name"]: column for column in columns}
    place = known["place"]
    assert place["labels"][place["newcomer"]].startswith("once")
    assert known["colour"]["newcomer"] is None
    assert (known["level"]["labels"], known["level"]["levels"]) == (None, ["low", "high"])
    assert known["size"]["levels"] is None


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (weald.AdaBoostClassifier(n_estimators=8), two),
        (weald.GradientBoostingClassifier(n_estimators=5), three),
        (weald.DecisionTreeRegressor(max_depth=3), numbers),
    ],
    ids=["AdaBoost", "three classes", "numbers"],
)
def test_the_page_is_complete_in_itself_and_well_formed(tmp_path, model, target):
    X = table()
    text = page(tmp_path, model.fit(X, target(X)), X, target(X))
    reading = Reading(text)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", text.replace("//", "// ").lower())
    fetched = [one for one in reading.attributes if one[1] in ("src", "href", "srcset", "action")]
    assert all(value.startswith("#") or value == "data:," for *_, value in fetched)
    assert len(reading.ids) == len(set(reading.ids)), "an id is there twice"
    assert reading.headings[0] == 1
    assert all(b - a <= 1 for a, b in zip(reading.headings, reading.headings[1:], strict=False))
    links = [value[1:] for tag, name, value in reading.attributes if name == "href" and tag == "a"]
    assert set(links) <= set(reading.ids)
    charts = [one for one in reading.attributes if one[:2] == ("svg", "role")]
    assert len(charts) >= 5
    described = [
        value for tag, name, value in reading.attributes if (tag, name) == ("svg", "aria-label")
    ]
    assert len(described) == len(charts)
    assert all(described)
    for label in ("Summary", "Leaderboard", "Quality on rows not seen", "What if", "Trees"):
        assert label in text


def test_numbers_of_the_leaderboard_and_notes_are_there(tmp_path):
    X = table()
    model = weald.DecisionTreeClassifier(max_depth=2).fit(X, two(X))
    text = page(tmp_path, model, X, two(X))
    assert "boosting &lt;b&gt;" in text
    assert "0.87 ± 0.01" in text
    assert "A note." in text
    assert "Cross-validation: 300 rows are predicted by copies" in text
    nothing = [{"method": "none", "score": float("nan")}]
    assert "<td>–</td>" in page(tmp_path, model, X, two(X), leaderboard=nothing)
    with pytest.raises(ValueError, match=r"'method' and 'score'.*no 'score'"):
        page(tmp_path, model, X, two(X), leaderboard=[{"method": "tree"}])


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (LogisticRegression(), "A LogisticRegression is no formula of trees."),
        (
            weald.BaggingClassifier(LogisticRegression(), 5, random_state=0),
            "Its members are not trees that weald grew.",
        ),
        (
            weald.VotingClassifier([("tree", weald.DecisionTreeClassifier(max_depth=2))]),
            "A VotingClassifier is no formula of trees.",
        ),
    ],
    ids=["scikit-learn", "bag", "vote"],
)
def test_models_that_are_no_trees_say_so(tmp_path, model, reason):
    X = table()[["count", "flat"]]
    y = two(table())
    text = page(tmp_path, model.fit(X, y), X, y)
    assert reason in text
    assert model_data(text) is None
    assert 'id="inputs"' not in text
    assert 'id="tree"' not in text
    Reading(text)


def test_trees_that_do_not_fit_say_so(tmp_path, monkeypatch):
    X = table()
    model = weald.RandomForestClassifier(30, random_state=0).fit(X, two(X))
    monkeypatch.setattr(embedded_trees, "LIMIT", 6000)
    text = page(tmp_path, model, X, two(X))
    shown = int(re.search(r"it holds the first (\d+) of 30 rounds", text)[1])
    assert 0 < shown < 30
    data = model_data(text)
    assert not data["complete"]
    assert 'id="inputs"' not in text
    assert 'id="tree"' in text
    monkeypatch.setattr(embedded_trees, "LIMIT", 10)
    assert "not even the first fits" in page(tmp_path, model, X, two(X))


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X.to_numpy(),
        lambda X: X.to_numpy().tolist(),
        lambda X: pl.DataFrame(X.to_dict("list")),
        lambda X: sp.csr_array(X.to_numpy()),
        lambda X: X.set_axis([5] * len(X)),
        lambda X: X.set_axis(range(3), axis=1),
        lambda X: X.convert_dtypes().astype({"flat": "boolean"}),
        lambda X: pa.table(X.to_dict("list")),
        lambda X: X.assign(count=pd.Categorical(X["count"], categories=range(99))),
        lambda X: pl.DataFrame(X.to_dict("list")).with_columns(pl.col("count").cast(str)),
    ],
    ids=[
        "array",
        "lists",
        "polars",
        "sparse",
        "odd index",
        "numbered columns",
        "nullable",
        "Arrow",
        "categories",
        "text",
    ],
)
def test_tables_of_any_kind(tmp_path, make):
    frame = table()[["count", "flat"]].assign(size=np.linspace(-1, 1, 300))
    X, y = make(frame), numbers(table())
    for model in (weald.RandomForestRegressor(10, random_state=0), weald.DecisionTreeRegressor()):
        Reading(page(tmp_path, model.fit(X, y), X, y))


def test_labels_of_any_kind(tmp_path):
    X = table()
    for y in (two(X) == "yes", pd.Series(two(X), dtype="category"), pl.Series(three(X))):
        Reading(page(tmp_path, weald.DecisionTreeClassifier(max_depth=2).fit(X, y), X, y))


def test_what_cannot_be_reported_is_refused_in_a_sentence(tmp_path):
    X = table()[["count"]]
    y = numbers(table())
    several = weald.RandomForestRegressor(3).fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match=r"y has 2 columns, but a report is about one target"):
        page(tmp_path, several, X, np.c_[y, y])
    model = weald.DecisionTreeClassifier(max_depth=1).fit(X, two(table()))
    with pytest.raises(ValueError, match="label 'maybe', which the model was not fitted to"):
        page(tmp_path, model, X, np.where(two(table()) == "yes", "maybe", "no"))
    with pytest.raises(TypeError, match="model must be a fitted classifier or regressor, got str"):
        page(tmp_path, "model", X, y)
    with pytest.raises(ValueError, match="not fitted"):
        page(tmp_path, LinearRegression(), X, y)


def test_small_and_odd_tables(tmp_path):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [None, None, None, None]}, dtype=object)
    X["a"] = X["a"].astype(float)
    for y in ([1.0, 2.0, 3.0, 4.0], [5.0] * 4):
        Reading(page(tmp_path, weald.DecisionTreeRegressor().fit(X, y), X, y))
    for y in (["u", "v", "u", "v"], ["u"] * 4):
        for model in (
            weald.DecisionTreeClassifier(),
            weald.GradientBoostingClassifier(n_estimators=2),
        ):
            Reading(page(tmp_path, model.fit(X, y), X, y))


def test_the_same_seed_gives_the_same_page(tmp_path):
    X = table()
    model = weald.RandomForestClassifier(5, random_state=0).fit(X, two(X))
    assert page(tmp_path, model, X, two(X), seed=3) == page(tmp_path, model, X, two(X), seed=3)


def test_everything_the_page_needs_is_in_the_package():
    home = Path(weald.report.__file__).parent
    for name in ("page.html", "page.css", "page.js", "predict.js"):
        assert (home / name).read_text(encoding="utf-8").strip()


# --- looks ----------------------------------------------------------------------------------------


def themes():
    css = (Path(weald.report.__file__).parent / "page.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", css, re.S)
    return [dict(re.findall(r"--([\w-]+): (#\w{6})", one)) for one in (light, dark)]


def contrast(one, other):
    def light(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", themes(), ids=["light", "dark"])
def test_contrast_is_that_of_wcag_aa(theme):
    for ink in ("ink", "quiet", "link"):
        for back in ("back", "card", "lit"):
            if (ink, back) != ("link", "lit"):
                assert contrast(theme[ink], theme[back]) >= 4.5, (ink, back)
    assert contrast(theme["warn-ink"], theme["warn-back"]) >= 4.5
    for k in range(6):
        assert contrast(theme[f"c{k}"], theme["back"]) >= 3, k  # of pictures


def test_steps_of_axes_are_tidy():
    for rough in (0.13, 1.0, 7.3, 4e-9, 2e11):
        step = tidy_step(rough)
        assert rough <= step < 2.6 * rough
        assert f"{step:e}"[0] in "125"


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (5, 5), (0, 0), (-1e-9, 1e-9), (1e15, 1e15 + 8), (-1e300, 1e300)]
)
def test_charts_of_any_range(low, high):
    x = np.linspace(low, high, 7)
    html = Chart(
        "t", Axis("x"), Axis("y"), [Series("points", x, x), Series("line", x, x, "a")]
    ).html()
    assert "nan" not in html
    assert "inf" not in html
    places = [float(one) for one in re.findall(r'c[xy]="([-\d.]+)"', html)]
    assert places
    assert all(0 <= one <= 400 for one in places)
    Reading(html)


def test_words_for_numbers():
    assert [words(x) for x in (0.5, 1234567, -0.25, float("nan"), None, 3.0)] == [
        "0.5", "1\u202f234\u202f567", "−0.25", "–", "–", "3",
    ]  # fmt: skip
