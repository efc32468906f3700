"""Files that were made to do harm, with checksums that are right."""

import copy
import json
import struct
import tracemalloc

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import weald

from .cases import numbers
from .mutations import put_together, taken_apart

SENTENCE = r"^(Not a|Cannot read|This model file)[^\n]*\.$"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.weald"


@pytest.fixture
def forest(path):
    X, real, _ = numbers()
    weald.RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, real).save(path)
    return taken_apart(path.read_bytes())


def refused(path, data, match=SENTENCE):
    """Assert that a file is refused without much memory."""
    path.write_bytes(data)
    tracemalloc.start()
    try:
        with pytest.raises(weald.ModelFileError, match=match) as error:
            weald.load(path)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "\n" not in str(error.value)
    assert most < 30 * len(data) + 4_000_000


def saved(model, path):
    weald.save(model, path)
    return taken_apart(path.read_bytes())


def state(document, name):
    """The state of the last object of a class."""
    found = [entry for entry in document["objects"] if entry.get("class") == name]
    return found[-1]["state"]


def test_the_files_of_these_tests_are_right(forest, path):
    path.write_bytes(put_together(*forest))
    assert weald.load(path).n_estimators_ == 3


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, 2000, -1])
def test_cut_off(forest, path, length):
    refused(path, put_together(*forest)[:length])


def test_every_bit_counts(forest, path):
    data = put_together(*forest)
    rng = np.random.default_rng(0)
    for at in rng.integers(0, 8 * len(data), 300):
        flipped = bytearray(data)
        flipped[at // 8] ^= 1 << at % 8
        refused(path, bytes(flipped))


def test_text_of_any_kind(path):
    for data in (b"hello, this is no model", b"\x00" * 100, b"PK\x03\x04" * 50, b"\xff" * 64):
        refused(path, data)


def test_no_file(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(weald.ModelFileError, match=SENTENCE):
            weald.load(path)


def test_another_safetensors_file(path):
    from safetensors.numpy import save_file

    save_file({"weight": np.zeros(3)}, path)
    with pytest.raises(weald.ModelFileError, match="Not a model file of weald"):
        weald.load(path)


def test_a_later_version(forest, path):
    text = put_together(*forest)
    (length,) = struct.unpack("<Q", text[:8])
    header = text[8 : 8 + length].replace(b"model file 1 ", b"model file 2 ")
    refused(path, text[:8] + header + text[8 + length :], "later version of weald")


# --- the header -----------------------------------------------------------------------------------


def with_header(data, change):
    (length,) = struct.unpack("<Q", data[:8])
    header = change(data[8 : 8 + length])
    return struct.pack("<Q", len(header)) + header + data[8 + length :]


def entry(**change):
    """A change of the entry of the first array."""

    def changed(header):
        parsed = json.loads(header)
        parsed["0"].update(change)
        return json.dumps(parsed).encode()

    return changed


@pytest.mark.parametrize(
    "change",
    [
        entry(shape=[2**40]),
        entry(shape=[2**62, 4]),
        entry(shape=[-1]),
        entry(shape=[1.0]),
        entry(shape="3"),
        entry(shape=[0, 2**40], data_offsets=[0, 0]),
        entry(shape=[1] * 40),
        entry(dtype="F128"),
        entry(dtype=["F64"]),
        entry(data_offsets=[0, 2**63]),
        entry(data_offsets=[8, 0]),
        entry(data_offsets=[None, 8]),
        entry(more=1),
        lambda header: b'{"0":1,' + header[1:],  # a key that stands there twice
        lambda header: header.replace(b'"1"', b'"0"', 1),
        lambda header: b"[" * 100_000 + b"]" * 100_000,
        lambda header: b"NaN",
        lambda header: b"[]",
        lambda header: b"\xff\xfe",
        lambda header: b"9" * 10_000,
        lambda header: b'{"__metadata__":{"weald":7}}',
    ],
)
def test_headers(forest, path, change):
    refused(path, with_header(put_together(*forest), change))


def test_a_header_longer_than_the_file(forest, path):
    data = put_together(*forest)
    for length in (2**63, 2**64 - 1, len(data), 10**8):
        refused(path, struct.pack("<Q", length) + data[8:])


def test_bytes_that_no_array_has(forest, path):
    refused(path, put_together(*forest) + b"\0" * 8)


# --- the document ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"{}",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"objects":[],"objects":[]}',
        b'{"objects":[NaN]}',
        b"9" * 100_000,
        b'{"objects":[{"class":"RandomForestRegressor","params":{},"state":{}}]}',
    ],
    ids=range(9),
)
def test_documents(path, text):
    refused(path, put_together({}, [], text=text))


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "subprocess.Popen",
        "sklearn.FunctionTransformer.__init__",
        "sklearn.GridSearchCV",
        "Decoder",
        "OwnLoss",
        "weald.cli",
        "",
        None,
        7,
        ["Forest"],
    ],
)
def test_classes_that_are_not_on_the_list(forest, path, name):
    document, arrays = forest
    document["objects"][-1]["class"] = document["class"] = name
    refused(path, put_together(document, arrays))


@pytest.mark.parametrize(
    "name", ["predict", "fit", "__class__", "__dict__", "_check_state", "estimators_", "a b", ""]
)
def test_attributes_that_hide_methods(forest, path, name):
    document, arrays = forest
    document["objects"][-1]["state"][name] = 1
    refused(path, put_together(document, arrays))


@pytest.mark.parametrize("number", [0, 10**6, -1, 1.0, None, "0", True])
def test_references_forward_or_to_nothing(forest, path, number):
    """An object that refers to itself, or to a later one, would be a circle."""
    document, arrays = forest
    last = len(document["objects"]) - 1
    state(document, "Trees")["sampling"] = {"object": last if number == 0 else number}
    refused(path, put_together(document, arrays))


def vote(*members):
    """A vote of members that were built before, as an object of a file."""
    named = [{"tuple": [f"m{k}", {"object": number}]} for k, number in enumerate(members)]
    held = {f"m{k}": {"object": number} for k, number in enumerate(members)}
    params = {"estimators": named, "n_jobs": None, "verbose": False, "weights": None}
    return params, [{"object": number} for number in members], {"bunch": held}


def doubled(document, levels):
    """A mean of two that are the same, which is a mean of two that are the same, ..."""
    objects = document["objects"]
    for _ in range(levels):
        last = len(objects) - 1
        params, members, held = vote(last, last)
        inner = {
            "members": members,
            "n_classes": 0,
            "factors": None,
            "seed": 0,
            "sampling": None,
            "per_round": 1,
            "grid": False,
            "finite": False,
        }
        objects.append({"class": "ForeignMembers", "state": inner})
        own = {
            "named_estimators_": held,
            "_members": {"object": len(objects) - 1},
            "n_estimators_": 2,
        }
        objects.append({"class": "VotingRegressor", "params": params, "state": own})
    document["class"], document["members"], document["row"] = "VotingRegressor", 2, None


def test_members_of_members_without_end(forest, path):
    document, arrays = forest
    fine = copy.deepcopy(document)
    doubled(fine, 2)
    path.write_bytes(put_together(fine, arrays))
    assert len(weald.load(path).predict(numbers()[0])) == 60
    doubled(document, 40)  # 2^40 questions
    refused(path, put_together(document, arrays), "shared")


def test_objects_nested_without_end(forest, path):
    document, arrays = forest
    objects = document["objects"]
    for _ in range(2000):
        last = {"object": len(objects) - 1}
        objects.append(
            {
                "class": "sklearn.Pipeline",
                "params": {"steps": [{"tuple": ["a", last]}]},
                "state": {},
            }
        )
    refused(path, put_together(document, arrays), "nested")


def test_text_that_takes_much_room(forest, path):
    document, arrays = forest
    for dtype, items in (("<U900000000", ["a"] * 9), ("<U100000", ["b" * 100_000] + ["c"] * 9000)):
        document["values"] = [{"dtype": dtype, "shape": [len(items)], "items": items}]
        document["objects"][-1]["state"]["feature_names_in_"] = {"values": 0}
        refused(path, put_together(document, arrays), "text")


def test_one_large_array_in_a_thousand_models(path):
    """Each of them would build a tree of its own from it."""
    X, _, codes = numbers(300)
    document, arrays = saved(KNeighborsClassifier().fit(X, codes), path)
    document["objects"] = document["objects"] * 1000
    refused(path, put_together(document, arrays), "shared")


def test_an_array_that_is_shared_often_is_stored_again(path):
    X, _, codes = numbers(300)
    member = KNeighborsClassifier().fit(X, codes)
    copies = [(f"m{k}", copy.copy(member)) for k in range(40)]
    stack = weald.StackingClassifier(copies, cv="prefit").fit(X, codes)
    stack.save(path)
    assert np.array_equal(weald.load(path).predict(X), stack.predict(X))


def test_an_array_inside_itself(forest, path):
    document, arrays = forest
    document["values"] = [{"dtype": "object", "shape": [1], "items": [{"values": 0}]}]
    document["objects"][-1]["state"]["feature_names_in_"] = {"values": 0}
    refused(path, put_together(document, arrays))


def test_a_row_of_arrays(path):
    """The trial would copy each of them for every row."""
    X = np.random.default_rng(0).normal(size=(60, 32))
    weald.DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0]).save(path)
    document, arrays = taken_apart(path.read_bytes())
    document["row"] = [{"array": len(arrays)}] * 32
    refused(path, put_together(document, [*arrays, np.zeros(100_000, dtype=bool)]), "row")


def test_keys_of_one_hash(forest, path):
    """They take time that grows with the square of their number."""
    document, arrays = forest
    numbers = [k * (2**61 - 1) for k in range(1, 20_001)]
    for held in ({"pairs": [[number, 0] for number in numbers]}, {"set": numbers}):
        state(document, "RandomForestRegressor")["held_"] = held
        refused(path, put_together(document, arrays), "many digits")


def test_a_description_of_columns_that_are_nowhere(forest, path):
    document, arrays = forest
    document["about"]["dict"].update(n_features_in_=1 << 24, categories_=None)
    path.write_bytes(put_together(document, arrays))
    tracemalloc.start()
    try:
        with pytest.raises(weald.ModelFileError, match=SENTENCE):
            weald.models.describe(path)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("jobs", [10**6, -(10**6), "all", 2.5])
def test_a_million_processes(forest, path, jobs):
    document, arrays = forest
    document["objects"][-1]["params"]["n_jobs"] = jobs
    refused(path, put_together(document, arrays), "n_jobs")


# --- trees ----------------------------------------------------------------------------------------


def nodes_of(document, arrays):
    number = state(document, "Forest")["nodes"]["array"]
    arrays[number] = arrays[number].copy()
    return arrays[number].view(np.uint32).reshape(-1, 4)  # number (2), head, next


def inner(nodes):
    return np.flatnonzero(nodes[:, 2] & 4 == 0)


@pytest.mark.parametrize("to", [0, 1, 5, 2**31, 2**32 - 1])
def test_children_out_of_range_and_circles(forest, path, to):
    document, arrays = forest
    nodes = nodes_of(document, arrays)
    at = inner(nodes)[0]
    assert nodes[at, 3] != to
    nodes[at, 3] = to
    refused(path, put_together(document, arrays))


def test_columns_out_of_range(forest, path):
    document, arrays = forest
    nodes = nodes_of(document, arrays)
    nodes[inner(nodes)[0], 2] = 3 << 3
    refused(path, put_together(document, arrays))


def test_numbers_that_are_none(forest, path):
    document, arrays = forest
    nodes = nodes_of(document, arrays)
    nodes.view(np.float64)[np.flatnonzero(nodes[:, 2] & 4)[0], 0] = np.nan
    refused(path, put_together(document, arrays))


def change(**parts):
    return parts


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("Forest", change(n_trees=2**40)),
        ("Forest", change(n_trees=4)),
        ("Forest", change(n_outputs=2**19)),
        ("Forest", change(n_categories=[0] * 7)),
        ("Forest", change(criterion="gini")),
        ("Sampling", change(n_rows=2**40)),
        ("Sampling", change(size=0)),
        ("RandomForestRegressor", change(n_estimators_=4)),
        ("RandomForestRegressor", change(n_features_in_=2**30)),
        ("RandomForestRegressor", change(n_features_in_=2)),
        ("RandomForestRegressor", change(n_outputs_=2)),
        ("RandomForestRegressor", change(categories_=[None])),
        ("RandomForestRegressor", change(seed_=-1)),
        ("Trees", change(per_round=2)),
        ("Trees", change(forests=[])),
    ],
)
def test_counts_that_do_not_fit(forest, path, kind, parts):
    document, arrays = forest
    state(document, kind).update(parts)
    refused(path, put_together(document, arrays))


def test_an_array_of_another_type(forest, path):
    document, arrays = forest
    number = state(document, "Forest")["nodes"]["array"]
    for dtype in (np.float64, np.uint32, np.uint8):
        other = [*arrays[:number], arrays[number].view(dtype), *arrays[number + 1 :]]
        refused(path, put_together(document, other))
