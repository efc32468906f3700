"""`weald inspect`: what is in a model file."""

from __future__ import annotations

from typing import Any

from weald.cli.errors import telling_errors
from weald.cli.options import Json, Model, Quiet


def inspect(model: Model, json: Json = False, quiet: Quiet = False) -> None:
    """Tell what a model file holds: method, members, columns, training scores, versions."""
    with telling_errors():
        from weald.cli.model_file import describe_model, facts_of
        from weald.cli.showing import print_json

        described = describe_model(model)
        facts = facts_of(described)
        if json:
            names = ("class_name", "parameters", "n_members", "columns", "classes", "weald_version")
            content = {name: getattr(described, name) for name in names}
            print_json(content | {"columns": _columns(described), "fit": facts or None})
        elif not quiet:
            _show(model, described, facts)


def _show(path: str, described: Any, facts: dict[str, Any]) -> None:
    from weald.cli.showing import CUT_WORDS, marked, print_facts, print_grid, print_words, short
    from weald.dataset.errors import named
    from weald.params.words import counted

    lines = [("file", path), ("method", _method(described, facts))]
    if described.n_members:
        lines.append(("members", f"{described.n_members:,}"))
    given = _given(described)
    if given:
        words = ", ".join(f"{name}={value!r}" for name, value in given.items())
        lines.append(("parameters", words))
    if facts:
        fitted = f"{facts['source']}, {counted(facts['rows'], 'row')}, {facts['fitted']}"
        lines += [("fitted to", fitted), ("target", f"{facts['target']}, {facts['task']}")]
    if described.classes is not None:
        lines.append(("classes", named([str(one) for one in described.classes], 20)))
    lines.append(("weald", str(described.weald_version)))
    print_facts(lines)
    recipe = facts.get("recipe") or {}
    categories = {one["name"]: one["categories"] for one in _columns(described)}
    categories |= facts.get("categories") or {}  # of a mixture the members know them, each its own
    rows = [_column_row(rule, categories) for rule in recipe.get("columns", [])]
    if not rows:
        rows = [(one.name, one.kind, _labels(one.categories)) for one in described.columns or ()]
    print_grid(("column", "kind", ""), rows)
    for one in recipe.get("left_out", []):
        print_facts([(" left out", f"{one['name']}: {one['reason']}")])
    board = facts.get("leaderboard") or []
    if board:
        print_grid(
            ("method", facts["metric"], "std. error", facts["beside"]),
            [
                (
                    marked(one["method"], one.get("cut", False)),
                    *(short(one[key]) for key in ("score", "standard_error", "beside")),
                )
                for one in board
            ],
            title=f"{facts['n_folds']}-fold cross-validation",
            best=0,
        )
        if any(one.get("cut", False) for one in board):
            print_words("", CUT_WORDS)


def _given(described: Any) -> dict[str, Any]:
    """The parameters that are not as by default."""
    import weald

    kind: Any = getattr(weald, described.class_name.rpartition(".")[2], None)
    if kind is None:
        return dict(described.parameters)
    try:
        usual = kind().get_params(deep=False)
    except TypeError:  # some parameter has no default
        usual = {}
    return {
        name: value
        for name, value in described.parameters.items()
        if name not in usual or repr(usual[name]) != repr(value)
    }


def _method(described: Any, facts: dict[str, Any]) -> str:
    name = described.class_name.rpartition(".")[2]
    return f"{facts['method']} ({name})" if facts else name


def _columns(described: Any) -> list[dict[str, Any]]:
    """Names of the columns, and the categories of those that have some."""
    return [
        {
            "name": one.name,
            "categories": one.categories,
        }
        for one in described.columns or ()
    ]


def _column_row(rule: dict[str, Any], categories: dict[str, Any]) -> tuple[str, str, str]:
    if rule["kind"] == "date":
        return rule["name"], "date", f"{rule['pattern']}: {', '.join(rule['parts'])}"
    labels = categories.get(rule["name"])
    return rule["name"], rule["kind"], _labels(labels)


def _labels(labels: Any) -> str:
    if labels is None:
        return ""
    from weald.dataset.errors import named

    every = [str(one) for one in labels]
    return f"{len(every)}: {named(every, 6)}"
