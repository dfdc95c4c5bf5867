// How the panes of a page divide times, and which rows are seen; run by tests/unit/test_panes.py.
"use strict";
const assert = require("node:assert");
const { test } = require("node:test");
const trees = require(process.env.PANES);

// main > (solve > MPI_Recv, MPI_Send); two threads.
const PARENT = [-1, 0, 1, 0];
const DATA = {
  paths: { parent: PARENT },
  threads: { parent: [-1, -1] },
  leaves: [0, 1],
  values: [[[0, 2, 2, 3], [0, 0, 1, 1], [1, 10, 20, 5]]],
};

test("a row has what is below it", () => {
  assert.deepEqual([...trees.withBelow(PARENT, [1, 2, 3, 4])], [10, 5, 3, 4]);
});

test("within a row are all below it, within none are all", () => {
  assert.deepEqual([...trees.isWithin(PARENT, 1)], [0, 1, 1, 0]);
  assert.deepEqual([...trees.isWithin(PARENT, -1)], [1, 1, 1, 1]);
});

test("a metric is divided by call path, and a call path by thread", () => {
  const all = trees.divided(DATA, 0, -1);
  assert.deepEqual([...all.paths], [36, 30, 30, 5]);
  assert.deepEqual([...all.threads], [11, 25]);
  assert.deepEqual([...trees.divided(DATA, 0, 1).threads], [10, 20]);
  assert.deepEqual([...trees.divided(DATA, 0, 3).threads], [0, 5]);
});

test("rows without a value and those in closed ones are not seen", () => {
  const rows = (values, open, bySize) =>
    trees.seen(PARENT, values, (row) => open.includes(row), bySize).map(({ row, depth }) => [row, depth]);
  assert.deepEqual(rows([9, 3, 3, 6], [0, 1], false), [[0, 0], [1, 1], [2, 2], [3, 1]]);
  assert.deepEqual(rows([9, 3, 3, 6], [0, 1], true), [[0, 0], [3, 1], [1, 1], [2, 2]]);
  assert.deepEqual(rows([9, 3, 3, 6], [0], false), [[0, 0], [1, 1], [3, 1]]);
  assert.deepEqual(rows([6, 0, 0, 6], [0, 1], false), [[0, 0], [3, 1]]);
});

test("what holds much is open at first", () => {
  assert.deepEqual([...trees.opened(PARENT, [100, 60, 60, 5], 0.1)], [0, 1, 2]);
  assert.deepEqual([...trees.opened(PARENT, [0, 0, 0, 0], 0.1)], [0, 1, 2, 3]);
});
