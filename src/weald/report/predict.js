// Predictions of trees in the page, to the digits that Python has. No part of the document is
// touched here, so that it also runs outside a browser.
//
// embedded_trees.py says what the arrays hold, weald.members.formula what the steps mean.
"use strict";

const weald = (() => {
  const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

  // An array that was packed, with one number for every place.
  function unpack(packed) {
    const text = atob(packed.bytes);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    const array = new TYPES[packed.type](bytes.buffer);
    if (!packed.index) return array;
    const index = unpack(packed.index);
    const full = new Float64Array(index.length);
    for (let i = 0; i < index.length; i++) full[i] = array[index[i]];
    return full;
  }

  function unpackTable(packed) {
    if (!packed) return null;
    const index = packed.index ? unpack(packed.index) : null;
    return { width: packed.width, table: unpack(packed.table), index };
  }

  // The model as the page holds it, made ready to be asked.
  function open(data, nCategories) {
    const model = { ...data, nCategories };
    for (const name of ["nodes", "tests", "number", "sets", "rows"]) {
      model[name] = unpack(data[name]);
    }
    model.value = unpackTable(data.value);
    model.said = unpackTable(data.said);
    model.weight = data.weight ? unpack(data.weight) : model.rows;
    model.weights = data.weights ? unpack(data.weights) : null;
    model.begin = new Uint32Array(model.nodes.length + 1); // first node of each tree
    for (let t = 0; t < model.nodes.length; t++) model.begin[t + 1] = model.begin[t] + model.nodes[t];
    findChildren(model, unpack(data.leaves));
    return model;
  }

  // Right children, numbered within their tree, 0 at leaves; and the leaves before every node, so the
  // number of a leaf. After a leaf comes the right child of the last node that has none yet.
  function findChildren(model, bits) {
    const n = model.begin[model.nodes.length];
    model.right = new Uint32Array(n);
    model.leaf = new Uint32Array(n);
    let leaves = 0;
    for (let t = 0; t < model.nodes.length; t++) {
      const waiting = [];
      for (let i = model.begin[t]; i < model.begin[t + 1]; i++) {
        model.leaf[i] = leaves;
        if (((bits[i >>> 3] >>> (i & 7)) & 1) === 0) {
          waiting.push(i);
        } else {
          leaves++;
          if (waiting.length) model.right[waiting.pop()] = i + 1 - model.begin[t];
        }
      }
    }
  }

  // The test of an inner node.
  function testOf(model, node) {
    const place = node - model.leaf[node];
    const test = model.tests[place];
    return {
      column: Math.floor(test / 4),
      missingLeft: (test & 1) === 1,
      categorical: (test & 2) === 2,
      number: model.number[place],
    };
  }

  // Does a category go left? It is known, so below nCategories.
  function inSet(sets, begin, nCategories, code) {
    const bit = (from) => ((sets[from + (code >>> 5)] >>> (code & 31)) & 1) === 1;
    if (nCategories <= 256) return bit(begin);
    const head = sets[begin];
    if (head === 0xffffffff) return bit(begin + 1);
    let low = 0;
    let high = head >>> 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sets[begin + 1 + middle] < code) low = middle + 1;
      else high = middle;
    }
    const listed = low < head >>> 1 && sets[begin + 1 + low] === code;
    return listed !== ((head & 1) === 1);
  }

  function goesLeft(model, node, row) {
    const { column, missingLeft, categorical, number } = testOf(model, node);
    const x = row[column];
    if (!categorical) return Number.isNaN(x) ? missingLeft : x <= number;
    const nCategories = model.nCategories[column];
    if (!(x >= 0 && x < nCategories)) return missingLeft && Number.isNaN(x);
    return inSet(model.sets, number, nCategories, x);
  }

  // The nodes a row passes in a tree, from its root to its leaf.
  function path(model, tree, row) {
    const first = model.begin[tree];
    const nodes = [first];
    let node = first;
    while (model.right[node] !== 0) {
      node = goesLeft(model, node, row) ? node + 1 : first + model.right[node];
      nodes.push(node);
    }
    return nodes;
  }

  function leafOf(model, tree, row) {
    const first = model.begin[tree];
    let node = first;
    while (model.right[node] !== 0) {
      node = goesLeft(model, node, row) ? node + 1 : first + model.right[node];
    }
    return node;
  }

  function largest(v) {
    let best = 0;
    for (let k = 1; k < v.length; k++) if (v[k] > v[best]) best = k;
    return best;
  }

  // The numbers a leaf holds, or says.
  function told(table, place) {
    const begin = (table.index ? table.index[place] : place) * table.width;
    return table.table.subarray(begin, begin + table.width);
  }

  function said(model, leaf) {
    if (model.said) return told(model.said, model.leaf[leaf]);
    const value = told(model.value, model.perNode ? leaf : model.leaf[leaf]);
    if (!model.vote) return value;
    const votes = new Float64Array(value.length);
    votes[largest(value)] = 1;
    return votes;
  }

  function sum(model, row) {
    const total = Float64Array.from(model.start);
    for (let t = 0; t < model.rounds; t++) {
      const weight = model.weights ? model.weights[t] : 1;
      for (let k = 0; k < model.perRound; k++) {
        const v = said(model, leafOf(model, t * model.perRound + k, row));
        const begin = k * v.length;
        for (let j = 0; j < v.length; j++) total[begin + j] += weight * v[j];
      }
    }
    return Array.from(total);
  }

  function median(model, row) {
    const each = [];
    let all = 0;
    for (let t = 0; t < model.rounds; t++) {
      each.push([said(model, leafOf(model, t, row))[0], model.weights ? model.weights[t] : 1]);
    }
    each.sort((a, b) => a[0] - b[0]);
    for (const pair of each) all += pair[1];
    let upTo = 0;
    for (const [value, weight] of each) {
      upTo += weight;
      if (upTo >= 0.5 * all) return [value];
    }
    return [NaN];
  }

  function expit(x) {
    if (x >= 0) return 1 / (1 + Math.exp(-x));
    const e = Math.exp(x);
    return e / (1 + e);
  }

  const clip = (x, low, high) => Math.min(Math.max(x, low), high);

  // Predictions of raw values; `symmetric`: that of -F is 1 less that of F.
  const LINKS = {
    identity: { inverse: (F) => F },
    log: { inverse: (F) => Math.exp(clip(F, -300, 300)) },
    logit: { inverse: expit, symmetric: true },
    half_logit: { inverse: (F) => expit(2 * F), symmetric: true },
    hinge: {
      inverse: (F, s) => {
        const one = clip((1 - F) / s, 0, 1);
        const zero = clip((1 + F) / s, 0, 1);
        return zero / (one + zero);
      },
      symmetric: true,
    },
  };

  function softmax(v) {
    const top = Math.max(...v);
    const e = v.map((x) => Math.exp(x - top));
    const all = e.reduce((a, b) => a + b, 0);
    return e.map((x) => x / all);
  }

  function inverse(v, [name, ...parameters]) {
    if (name === "softmax") return softmax(v);
    return v.map((F) => LINKS[name].inverse(F, ...parameters));
  }

  const STEPS = {
    add: (v, c) => v.map((x) => c + x),
    divide: (v, c) => v.map((x) => x / c),
    times: (v, c) => v.map((x) => c * x),
    "second less first": (v) => [v[1] - v[0]],
    last: (v) => [v[v.length - 1]],
    "class less others": (v) => {
      if (v.length === 2) return [v[0] - v[1], v[1] - v[0]];
      const all = v.reduce((a, b) => a + b, 0);
      return v.map((x) => x - (all - x) / (v.length - 1));
    },
    "both ways": (v) => [-v[0], v[0]],
    "two shares": (v, link) => {
      const [p] = inverse(v, link);
      const q = LINKS[link[0]].symmetric ? inverse([-v[0]], link)[0] : 1 - p;
      return [clip(q, 0, 1), clip(p, 0, 1)];
    },
    inverse,
    "in order": (v, places) => {
      const sorted = Float64Array.from(v).sort();
      const out = new Array(v.length);
      places.forEach((place, i) => (out[place] = sorted[i]));
      return out;
    },
    ones: () => [1],
  };

  const CHOICES = {
    largest: (raw) => largest(raw),
    positive: (raw) => (raw[raw.length - 1] > 0 ? 1 : 0),
    cheapest: (raw, costs) => {
      const price = costs[0].map((_, j) => -raw.reduce((all, p, i) => all + p * costs[i][j], 0));
      return largest(price);
    },
    first: () => 0,
  };

  const taken = (v, steps) => steps.reduce((u, [name, ...rest]) => STEPS[name](u, ...rest), v);

  // Class number (null for numbers) and class shares or numbers of a row of codes and numbers.
  function predict(model, row) {
    const raw = taken(model.median ? median(model, row) : sum(model, row), model.toRaw);
    const chosen = model.choose ? CHOICES[model.choose](raw, model.costs) : null;
    return { chosen, raw, answer: taken(raw, model.toAnswer) };
  }

  // Rows, weight and value of every node of a tree; those of inner nodes follow from the leaves.
  function nodesOf(model, tree) {
    const first = model.begin[tree];
    const n = model.nodes[tree];
    const width = model.value.width;
    const rows = new Float64Array(n);
    const weight = new Float64Array(n);
    const value = new Float64Array(n * width);
    for (let i = n - 1; i >= 0; i--) {
      const node = first + i;
      const right = model.right[node];
      if (right === 0 || model.perNode) {
        const place = model.perNode ? node : model.leaf[node];
        rows[i] = model.rows[place];
        weight[i] = model.weight[place];
        value.set(told(model.value, place), i * width);
        continue;
      }
      rows[i] = rows[i + 1] + rows[right];
      weight[i] = weight[i + 1] + weight[right];
      for (let j = 0; j < width; j++) {
        const both = weight[i + 1] * value[(i + 1) * width + j] + weight[right] * value[right * width + j];
        value[i * width + j] = weight[i] > 0 ? both / weight[i] : 0;
      }
    }
    return { rows, weight, value, width };
  }

  return { open, predict, path, testOf, nodesOf, inSet };
})();

if (typeof module !== "undefined") module.exports = weald;
