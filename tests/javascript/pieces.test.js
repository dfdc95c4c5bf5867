// What the timeline's script sums up, finds and says; run by tests/unit/test_timeline_data.py.
"use strict";
const assert = require("node:assert");
const { test } = require("node:test");
const parts = require(process.env.PIECES);

const KINDS = 4;

function streamOf(pieces, mixes = []) {
  const start = [0];
  for (const [length] of pieces) start.push(start.at(-1) + length);
  return {
    start: Float64Array.from(start),
    kind: Uint8Array.from(pieces.map(([, kind]) => kind)),
    place: Int32Array.from(pieces.map(([, , place]) => place ?? -1)),
    time: Float64Array.from(mixes.flat()),
    kinds: KINDS,
  };
}

function sumsOf(stream, from, to, columns) {
  const sums = new Float64Array(columns * KINDS);
  parts.addTimes(stream, from, to, columns, sums);
  return sums;
}

// A generator of numbers that are the same in every run.
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state % below;
  };
}

test("times in columns are those of each nanosecond", () => {
  const next = numbers(7);
  for (let round = 0; round < 200; round += 1) {
    const pieces = Array.from({ length: 1 + next(12) }, () => [1 + next(9), next(KINDS)]);
    const stream = streamOf(pieces);
    const length = stream.start.at(-1);
    const columns = 1 + next(8);
    const from = next(length);
    const to = from + columns * (1 + next(4));
    const width = (to - from) / columns;
    const twin = new Float64Array(columns * KINDS);
    for (let moment = from; moment < Math.min(to, length); moment += 1) {
      const kind = stream.kind[parts.pieceAt(stream, moment)];
      twin[Math.floor((moment - from) / width) * KINDS + kind] += 1;
    }
    const sums = sumsOf(stream, from, to, columns);
    sums.forEach((sum, k) => assert.ok(Math.abs(sum - twin[k]) < 1e-9, `${sum} ${twin[k]}`));
  }
});

test("a stretch of shares gives each part its share", () => {
  const stream = streamOf([[10, parts.MIXED, 0], [5, 1]], [[6, 0, 2, 2]]);
  assert.deepEqual([...sumsOf(stream, 0, 15, 1)], [6, 5, 2, 2]);
  assert.deepEqual([...sumsOf(stream, 0, 5, 1)], [3, 0, 1, 1]);
});

test("a stretch of several ranks has their times, each its share of the stretch", () => {
  const stream = streamOf([[10, parts.MIXED, 0]], [[20, 0, 0, 20]]);
  const sums = sumsOf(stream, 0, 10, 2);
  assert.deepEqual([...sums], [10, 0, 0, 10, 10, 0, 0, 10]);
});

test("heights fill the column, and what is there has a pixel", () => {
  const next = numbers(11);
  const into = new Int32Array(KINDS);
  for (let round = 0; round < 500; round += 1) {
    const sums = Float64Array.from({ length: KINDS }, () => (next(3) ? next(1000) ** 3 : 0));
    const pixels = KINDS + next(30);
    const some = parts.heights(sums, 0, KINDS, pixels, into);
    assert.equal(some, sums.some((sum) => sum > 0));
    if (!some) continue;
    assert.equal(into.reduce((sum, each) => sum + each, 0), pixels);
    sums.forEach((sum, k) => assert.equal(into[k] > 0, sum > 0));
  }
});

test("a wait of a microsecond among a million bursts has its pixel", () => {
  const count = 1_000_000;
  const stream = {
    start: Float64Array.from({ length: count + 1 }, (_, k) => k * 1000),
    kind: new Uint8Array(count),
    place: new Int32Array(count).fill(-1),
    kinds: KINDS,
  };
  stream.kind[777_777] = 3;
  const columns = 1144;
  const sums = sumsOf(stream, 0, count * 1000, columns);
  const into = new Int32Array(KINDS);
  const marked = [];
  for (let column = 0; column < columns; column += 1) {
    parts.heights(sums, column * KINDS, KINDS, 30, into);
    if (into[3]) marked.push(column);
  }
  assert.deepEqual(marked, [Math.floor(0.777777 * columns)]);
});

test("messages belong to the call that sends, and to the one that ends with them", () => {
  const sent = { rows: 2, from: [0, 1], send: [10, 25], to: [1, 0], receive: [20, 30], size: [8, 9] };
  assert.deepEqual(parts.messagesIn(sent, 0, 10, 12), [0]);
  assert.deepEqual(parts.messagesIn(sent, 1, 15, 20), [0]);
  assert.deepEqual(parts.messagesIn(sent, 1, 20, 25), []);
  assert.deepEqual(parts.messagesIn(sent, 0, 5, 40), [0, 1]);
});

test("the largest piece of a pixel is found, however many there are", () => {
  const stream = streamOf([[3, 0], [1, 1], [9, 2], [2, 3]]);
  assert.deepEqual(parts.largestIn(stream, 2, 6), { piece: 2, count: 3 });
  assert.deepEqual(parts.largestIn(stream, 0, 3), { piece: 0, count: 1 });
});

test("a call is all its pieces", () => {
  const stream = streamOf([[3, 0], [1, 1], [9, 2 | 128], [2, 3 | 128], [2, 3]]);
  for (const piece of [1, 2, 3]) {
    assert.deepEqual(parts.callAround(stream, piece), { first: 1, last: 3 });
  }
  assert.deepEqual(parts.callAround(stream, 4), { first: 4, last: 4 });
});

test("behind a wait is the one that the late side had longest meanwhile", () => {
  const waits = {
    rows: 4, begin: [0, 1, 3, 4], stream: [0, 1, 1, 2], start: [10, 0, 12, 13],
    length: [20, 11, 15, 4], cause: [1, 2, 2, 0],
  };
  assert.equal(parts.waitBehind(waits, 0), 2);
  assert.deepEqual(parts.chainOf(waits, 0, 9), [0, 2, 3]);
  assert.equal(parts.waitAt(waits, 1, 11), -1);
  assert.equal(parts.waitAt(waits, 1, 12), 2);
  assert.equal(parts.waitAt(waits, 1, 26.9), 2);
  assert.equal(parts.waitAt(waits, 2, 17), -1);
});

test("numbers are told as on the rest of the page", () => {
  assert.deepEqual([950, 1_500_000, 2e9, 35_400_000].map(parts.timeText), ["950 ns", "1.50 ms", "2.00 s", "35.4 ms"]);
});

test("a share is never told as nothing", () => {
  assert.equal(parts.shareText(1, 1e9), "< 0.1 %");
  assert.equal(parts.shareText(0, 0), "0 %");
  assert.equal(parts.shareText(0.505, 1), "50.5 %");
});

test("texts in a sentence are not looked into", () => {
  assert.equal(parts.filled("{who} waits {time}", { who: "{time}$&", time: "3 ms" }), "{time}$& waits 3 ms");
});

test("an axis has round moments", () => {
  const { step, moments } = parts.ticks(142e6, 214e6, 10);
  assert.equal(step, 10e6);
  assert.deepEqual(moments, [150e6, 160e6, 170e6, 180e6, 190e6, 200e6, 210e6]);
  assert.equal(parts.tickText(150e6, step, 214e6), "150 ms");
  assert.equal(parts.tickText(150_500_000, 500_000, 151e6), "150.5 ms");
});
