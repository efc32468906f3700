"""DOT text: complete, well-formed, and every label comes through unharmed."""

import html
import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import weald
from weald.explain import export_graphviz

ODD_NAMES = ['say "hi"', "back\\slash \\N", "a<b> & c", "R&amp;D"]

NODE = re.compile(r'^(\d+) \[label=("(?:[^"\\]|\\.)*"|<.*>)(?:, fillcolor="(#[0-9a-f]{6})")?\] ;$')
EDGE = re.compile(r'^(\d+) -> (\d+) \[label="(yes|no)"\] ;$')


def parsed(dot):
    """Node labels and edges; a line that is neither must be one of the known headers."""
    lines = dot.splitlines()
    assert lines[0] == "digraph Tree {"
    assert lines[-1] == "}"
    nodes, edges = {}, {}
    for line in lines[1:-1]:
        if match := NODE.match(line):
            nodes[int(match[1])] = match[2]
        elif match := EDGE.match(line):
            edges[int(match[1]), int(match[2])] = match[3]
        else:
            assert line.startswith(("node [", "edge [", "graph [", "rankdir=LR", "{rank=same"))
    return nodes, edges


def read_text_label(label):
    """What Graphviz shows for a quoted label: escapes first, then entities."""
    plain = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), label[1:-1])
    return html.unescape(plain).splitlines()


def read_html_label(label):
    root = ET.fromstring(f"<p>{label[1:-1].replace('&le;', '≤')}</p>")
    return [root.text, *(child.tail for child in root)]


@pytest.fixture(scope="module")
def iris_tree():
    X, y = load_iris(return_X_y=True)
    return weald.DecisionTreeClassifier(random_state=0).fit(X, y)


def test_every_node_and_edge_is_there(iris_tree):
    nodes, edges = parsed(export_graphviz(iris_tree))
    tree = iris_tree.tree_
    assert sorted(nodes) == list(range(tree.node_count))
    inner = np.flatnonzero(tree.children_left >= 0)
    expected = {(int(i), int(tree.children_left[i])): "yes" for i in inner}
    expected |= {(int(i), int(tree.children_right[i])): "no" for i in inner}
    assert edges == expected


@pytest.mark.parametrize("name", ODD_NAMES)
@pytest.mark.parametrize("special", [False, True])
def test_labels_are_escaped(name, special):
    tree = weald.DecisionTreeClassifier().fit([[1.0], [2.0]], ["p", "q"])
    dot = export_graphviz(
        tree, feature_names=[name], class_names=[name, "q"], special_characters=special
    )
    nodes, _ = parsed(dot)
    read, sign = (read_html_label, "≤") if special else (read_text_label, "<=")
    lines = read(nodes[0])
    assert lines[0] == f"{name} {sign} 1.5"
    assert lines[-1] == f"class = {name}"


def test_categories_and_line_breaks_in_labels():
    table = pd.DataFrame({"a\nb": ["x\ny", "z"] * 3})
    tree = weald.DecisionTreeClassifier().fit(table, [0, 1] * 3)
    nodes, _ = parsed(export_graphviz(tree))
    assert read_text_label(nodes[0])[0] in ("a b in {'x\\ny'}", "a b in {z}")


def test_options_shape_the_graph(iris_tree):
    dot = export_graphviz(
        iris_tree,
        filled=True,
        rounded=True,
        rotate=True,
        leaves_parallel=True,
        node_ids=True,
        proportion=True,
        impurity=False,
        label="none",
        class_names=True,
        fontname='a "b"',
    )
    assert 'style="filled, rounded"' in dot
    assert 'fontname="a \\"b\\""' in dot
    assert "\nrankdir=LR ;\n" in dot
    leaves = np.flatnonzero(iris_tree.tree_.children_left < 0)
    same = "{rank=same ; " + "; ".join(map(str, leaves)) + "} ;"
    assert same in dot
    nodes, _ = parsed(dot)
    lines = read_text_label(nodes[0])
    assert lines[0] == "#0"
    assert lines[2:] == ["100.0%", "[0.333, 0.333, 0.333]", "0"]
    assert dot.count("fillcolor=") == iris_tree.tree_.node_count


def test_deeper_branches_are_folded(iris_tree):
    nodes, edges = parsed(export_graphviz(iris_tree, max_depth=0))
    assert [nodes[i] for i in sorted(nodes)[1:]] == ['"(...)"', '"(...)"']
    assert len(edges) == 2


def test_written_to_a_path_or_an_open_file(iris_tree, tmp_path):
    dot = export_graphviz(iris_tree)
    path = tmp_path / "tree.dot"
    assert export_graphviz(iris_tree, path) is None
    assert path.read_text(encoding="utf-8") == dot
    assert export_graphviz(iris_tree, str(path)) is None
    buffer = io.StringIO()
    assert export_graphviz(iris_tree, out_file=buffer) is None
    assert buffer.getvalue() == dot


def test_several_outputs():
    X = np.arange(6.0)[:, None]
    y = np.c_[X[:, 0] > 2, X[:, 0] > 3].astype(int)
    tree = weald.DecisionTreeClassifier().fit(X, y)
    nodes, _ = parsed(export_graphviz(tree, filled=True, class_names=True))
    lines = read_text_label(nodes[0])
    assert "value = [[3, 3], [4, 2]]" in lines
    assert lines[-1] == "class = 0, 0"
