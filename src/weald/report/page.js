// The panel that predicts, and the viewer of trees. All text is put in as text, never as HTML.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("model-data").textContent);
  if (!data) return;
  const MISSING = "(missing)";
  const UNKNOWN = "(a value not seen in the fit)";
  const MANY = 60; // categories beyond which a field with suggestions takes the place of a list
  const SHOWN = 4; // categories named in a test

  const model = weald.open(data.trees, data.columns.map((c) => (c.labels ? c.labels.length : 0)));
  const byId = (id) => document.getElementById(id);
  let row = data.rows[0].map((x) => (x === null ? NaN : x));

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function words(x, digits = 5) {
    if (!Number.isFinite(x)) return String(x);
    if (Number.isInteger(x) && Math.abs(x) < 1e15) return x.toLocaleString("en").replaceAll(",", "\u202f");
    return String(Number(x.toPrecision(digits))).replace("-", "−");
  }

  const percent = (x) => `${(100 * x).toFixed(1)} %`;

  // A bar for each share, with its name and number.
  function shareBars(names, shares, most = 12) {
    const order = [...shares.keys()].sort((a, b) => (names.length > most ? shares[b] - shares[a] : a - b));
    return order.slice(0, most).map((k) => {
      const part = element("span", { class: `c${k % 6}`, style: `width:${100 * shares[k]}%` });
      const meter = element("span", { class: "meter", "aria-hidden": "true" }, part);
      return element("div", { class: "share" }, element("span", {}, names[k]), meter, element("span", {}, percent(shares[k])));
    });
  }

  // --- the row ------------------------------------------------------------------------------------

  function chooseRow(select) {
    data.rowNames.forEach((name, i) => select.append(element("option", { value: i }, name)));
    select.addEventListener("change", () => {
      row = data.rows[Number(select.value)].map((x) => (x === null ? NaN : x));
      fillInputs();
      changed();
    });
  }

  const inputs = new Map(); // column: its field

  // Names of categories, ordered ones too, which are numbers to the trees.
  function namesOf(j) {
    const { name, labels, levels } = data.columns[j];
    return { name, labels: labels ?? levels };
  }

  function fieldOf(j) {
    const { name, labels } = namesOf(j);
    const id = `value-${j}`;
    let field;
    if (labels === null) {
      field = element("input", { id, type: "number", step: "any", placeholder: "missing" });
    } else if (labels.length <= MANY) {
      field = element("select", { id });
      labels.forEach((label, code) => field.append(element("option", { value: code }, label)));
      field.append(element("option", { value: "missing" }, MISSING));
      field.append(element("option", { value: "unknown" }, UNKNOWN));
    } else {
      field = element("input", { id, type: "text", list: `${id}-labels`, placeholder: "missing" });
      const list = element("datalist", { id: `${id}-labels` });
      labels.slice(0, 2000).forEach((label) => list.append(element("option", { value: label })));
      field.suggestions = list;
    }
    field.addEventListener("input", () => {
      row[j] = valueOf(j, field);
      changed();
    });
    const box = element("div", {}, element("label", { for: id }, name), field);
    if (field.suggestions) box.append(field.suggestions);
    inputs.set(j, field);
    return box;
  }

  // A number, or the code of a category; NaN if it is missing. One that was never seen counts as
  // missing too, unless the column has a code for such newcomers.
  function valueOf(j, field) {
    const { labels } = namesOf(j);
    const newcomer = data.columns[j].newcomer ?? NaN;
    if (labels === null) return field.value.trim() === "" ? NaN : Number(field.value);
    if (field.tagName === "SELECT") {
      if (field.value === "unknown") return newcomer;
      return field.value in labels ? Number(field.value) : NaN;
    }
    if (field.value === "") return NaN;
    const code = labels.indexOf(field.value);
    return code < 0 ? newcomer : code;
  }

  function fillInputs() {
    for (const [j, field] of inputs) {
      const { labels } = namesOf(j);
      const missing = Number.isNaN(row[j]);
      if (labels === null) field.value = missing ? "" : String(row[j]);
      else if (field.tagName === "SELECT") field.value = missing ? "missing" : String(row[j]);
      else field.value = missing ? "" : labels[row[j]];
    }
  }

  function showAnswer() {
    const box = byId("answer");
    if (!box) return;
    const { chosen, answer } = weald.predict(model, row);
    box.dataset.chosen = chosen === null ? "" : data.classes[chosen];
    box.dataset.answer = JSON.stringify(answer);
    if (data.classes === null) {
      const said = answer.length === 1 ? words(answer[0], 6) : answer.map((x) => words(x, 6)).join(", ");
      box.replaceChildren("Prediction: ", element("strong", {}, said));
    } else {
      const head = element("p", {}, "Prediction: ", element("strong", {}, data.classes[chosen]));
      box.replaceChildren(head, ...shareBars(data.classes, answer));
    }
  }

  // --- trees --------------------------------------------------------------------------------------

  let tree = 0;
  let facts = null; // rows, weight and value of the nodes of the tree
  let lit = new Set(); // nodes the row passes
  const open = new Set();
  let selected = 0;
  const viewer = byId("tree");

  const isShares = data.classes !== null && model.value.width === data.classes.length && data.classes.length > 1;
  const rightOf = (i) => model.right[model.begin[tree] + i];
  const isLeaf = (i) => rightOf(i) === 0;
  const valueAt = (i) => facts.value.subarray(i * facts.width, (i + 1) * facts.width);

  function sideLabels(node, left) {
    const { column, number } = weald.testOf(model, node);
    const { labels } = data.columns[column];
    return labels.filter((_, code) => weald.inSet(model.sets, number, labels.length, code) === left);
  }

  // What holds on one side of a test; `all`: every category is named; `always`: missing values too,
  // even where there were none in the table.
  function condition(i, left, all = false, always = false) {
    const node = model.begin[tree] + i;
    const { column, missingLeft, categorical, number } = weald.testOf(model, node);
    const { name, levels, missing: seen } = data.columns[column];
    const missing = missingLeft === left && (seen || always) ? " or missing" : "";
    if (!categorical) {
      if (number === Infinity) return `${name} is ${left ? "present" : "missing"}`;
      const limit = levels?.[Math.floor(number)] ?? words(number, 6); // the last level on the left
      return `${name} ${left ? "≤" : ">"} ${limit}${missing}`;
    }
    const own = sideLabels(node, left);
    const other = sideLabels(node, !left);
    const named = own.length <= other.length ? own : other;
    const most = all ? 200 : SHOWN;
    const more = named.length > most ? `, +${named.length - most} more` : "";
    const set = `{${named.slice(0, most).join(", ")}${more}}`;
    return `${name} ${named === own ? "in" : "not in"} ${set}${missing}`;
  }

  function parentsOf(i) {
    const way = [];
    let at = 0;
    while (at !== i) {
      const right = rightOf(at);
      const left = i < right;
      way.push([at, left]);
      at = left ? at + 1 : right;
    }
    return way;
  }

  function valueWords(i) {
    const value = valueAt(i);
    if (!isShares) {
      const number = Array.from(value, (x) => words(x)).join(", ");
      return data.adds ? `adds ${number}` : `predicts ${number}`;
    }
    let best = 0;
    value.forEach((x, k) => { if (x > value[best]) best = k; });
    return `${data.classes[best]} ${percent(value[best])}`;
  }

  function meterOf(i) {
    const value = valueAt(i);
    const meter = element("span", { class: "meter", "aria-hidden": "true" });
    if (isShares) {
      value.forEach((x, k) => meter.append(element("span", { class: `c${k % 6}`, style: `width:${100 * x}%` })));
    } else {
      const share = facts.high > facts.low ? (value[0] - facts.low) / (facts.high - facts.low) : 0.5;
      meter.append(element("span", { class: "c0", style: `width:${100 * share}%` }));
    }
    return meter;
  }

  function itemOf(i, level, text) {
    const item = element("li", { role: "treeitem", id: `node-${i}`, "aria-level": level, "aria-selected": i === selected, tabindex: i === selected ? "0" : "-1" });
    if (lit.has(i)) item.classList.add("lit");
    const sign = isLeaf(i) ? "" : open.has(i) ? "▾" : "▸";
    const rows = `${words(facts.rows[i])} rows`;
    const mark = lit.has(i) ? element("span", {}, "● ") : "";
    const label = element("span", {}, mark, text, element("span", { class: "of" }, `${rows} · ${valueWords(i)}`));
    const line = element("div", { class: "nodeline" }, element("span", { "aria-hidden": "true" }, sign), label, meterOf(i));
    item.setAttribute("aria-label", `${text}, ${rows}, ${valueWords(i)}${isLeaf(i) ? ", leaf" : ""}${lit.has(i) ? ", on the way of the row" : ""}`);
    line.addEventListener("click", () => {
      if (!isLeaf(i)) open.has(i) ? open.delete(i) : open.add(i);
      select(i);
    });
    item.append(line);
    if (isLeaf(i)) return item;
    item.setAttribute("aria-expanded", open.has(i));
    if (open.has(i)) {
      const group = element("ul", { role: "group" });
      group.append(itemOf(i + 1, level + 1, condition(i, true)));
      group.append(itemOf(rightOf(i), level + 1, condition(i, false)));
      item.append(group);
    }
    return item;
  }

  function select(i, focus = true) {
    selected = i;
    drawTree();
    if (focus) byId(`node-${i}`).focus({ preventScroll: false });
  }

  function drawTree() {
    if (!viewer) return;
    viewer.replaceChildren(itemOf(0, 1, "All rows"));
    const value = valueAt(selected);
    const way = parentsOf(selected);
    const list = element("ol", {});
    way.forEach(([node, left]) => list.append(element("li", {}, condition(node, left, true))));
    const parts = [element("h3", {}, isLeaf(selected) ? `Leaf ${selected}` : `Node ${selected}`)];
    const share = facts.rows[0] > 0 ? ` (${percent(facts.rows[selected] / facts.rows[0])})` : "";
    parts.push(element("p", {}, `${words(facts.rows[selected])} training rows${share}. ${isShares ? "" : `The node ${valueWords(selected)}.`}`));
    if (Math.abs(facts.weight[selected] - facts.rows[selected]) > 1e-9) parts.push(element("p", {}, `They weigh ${words(facts.weight[selected])}.`));
    if (isShares) parts.push(...shareBars(data.classes, Array.from(value)));
    if (!isLeaf(selected)) parts.push(element("p", {}, `Test: ${condition(selected, true, true, true)} goes left.`));
    parts.push(way.length ? element("p", {}, "Rows that come here:") : "", list);
    byId("node").replaceChildren(...parts);
  }

  function light() {
    const first = model.begin[tree];
    lit = new Set(weald.path(model, tree, row).map((node) => node - first));
  }

  function showTree() {
    facts = weald.nodesOf(model, tree);
    facts.low = Infinity;
    facts.high = -Infinity;
    for (let i = 0; i < facts.rows.length; i++) {
      facts.low = Math.min(facts.low, facts.value[i * facts.width]);
      facts.high = Math.max(facts.high, facts.value[i * facts.width]);
    }
    open.clear();
    selected = 0;
    light();
    openTo(2);
    drawTree();
  }

  function openTo(depth, i = 0) {
    if (isLeaf(i) || depth === 0) return;
    open.add(i);
    openTo(depth - 1, i + 1);
    openTo(depth - 1, rightOf(i));
  }

  function move(event) {
    const shown = [...viewer.querySelectorAll("li")].map((item) => Number(item.id.slice(5)));
    const at = shown.indexOf(selected);
    const above = parentsOf(selected).pop();
    const steps = {
      ArrowDown: () => shown[at + 1],
      ArrowUp: () => shown[at - 1],
      Home: () => shown[0],
      End: () => shown[shown.length - 1],
      ArrowRight: () => {
        if (isLeaf(selected)) return undefined;
        if (open.has(selected)) return selected + 1;
        open.add(selected);
        return selected;
      },
      ArrowLeft: () => {
        if (open.delete(selected)) return selected;
        return above && above[0];
      },
      Enter: () => {
        if (!isLeaf(selected)) open.has(selected) ? open.delete(selected) : open.add(selected);
        return selected;
      },
    };
    steps[" "] = steps.Enter;
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const to = step();
    if (to !== undefined) select(to);
  }

  function changed() {
    showAnswer();
    if (!viewer) return;
    light();
    drawTree();
  }

  // --- begin --------------------------------------------------------------------------------------

  if (byId("row")) chooseRow(byId("row"));
  if (byId("inputs")) {
    byId("inputs").append(...data.order.map(fieldOf));
    byId("inputs").addEventListener("submit", (event) => event.preventDefault());
    fillInputs();
  }
  if (viewer && model.nodes.length) {
    const member = byId("member");
    const part = byId("part");
    const rounds = model.nodes.length / model.perRound;
    member.max = rounds;
    if (model.perRound > 1) byId("memberName").textContent = "Round";
    byId("memberOf").textContent = `of ${rounds}`;
    byId("memberControl").hidden = rounds === 1;
    byId("partControl").hidden = model.perRound === 1;
    for (let k = 0; k < model.perRound; k++) {
      const name = data.classes && data.classes.length === model.perRound ? data.classes[k] : k + 1;
      part.append(element("option", { value: k }, name));
    }
    const pick = () => {
      const t = Math.min(Math.max(Math.round(Number(member.value)) || 1, 1), rounds) - 1;
      tree = t * model.perRound + Number(part.value);
      showTree();
    };
    member.addEventListener("change", pick);
    part.addEventListener("change", pick);
    viewer.addEventListener("keydown", move);
    byId("follow").addEventListener("click", () => {
      lit.forEach((i) => { if (!isLeaf(i)) open.add(i); });
      select(Math.max(...lit));
    });
    byId("fold").addEventListener("click", () => {
      open.clear();
      select(0, false);
    });
    showTree();
  }
  showAnswer();
})();
