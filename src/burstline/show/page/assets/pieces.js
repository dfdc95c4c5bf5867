// Pieces of time: decoded, summed up in columns of pixels, found at a moment. Knows no document.
"use strict";
var burstlinePieces = (function () {
  const MIXED = 127; // a piece of several kinds, of which the times are known and not the order
  const CONTINUES = 128; // a piece in the same call as the piece before it

  function varints(bytes, count) {
    const values = new Float64Array(count);
    let at = 0;
    for (let k = 0; k < count; k += 1) {
      let value = 0;
      let scale = 1;
      let byte = bytes[at++];
      while (byte >= 128) {
        value += (byte - 128) * scale;
        scale *= 128;
        byte = bytes[at++];
      }
      values[k] = value + byte * scale;
    }
    return values;
  }

  // Parts one behind the other, each with its length in bytes.
  function parts(bytes, sizes) {
    let begin = 0;
    return sizes.map((size) => bytes.subarray(begin, (begin += size)));
  }

  const columns = (bytes, head) => parts(bytes, head.sizes).map((part) => varints(part, head.rows));

  function decodePieces(bytes, head) {
    const [lengths, kinds, places, mixes] = parts(bytes, head.sizes);
    const every = head.counts.reduce((sum, count) => sum + count, 0);
    const length = varints(lengths, every);
    const place = varints(places, head.places);
    const time = varints(mixes, head.mixes * head.kinds);
    let row = 0;
    let placed = 0;
    let mixed = 0;
    return head.counts.map((count) => {
      const stream = {
        start: new Float64Array(count + 1),
        kind: kinds.slice(row, row + count),
        place: new Int32Array(count),
        time,
        kinds: head.kinds,
      };
      let now = 0;
      let current = -1;
      for (let k = 0; k < count; k += 1, row += 1) {
        stream.start[k] = now;
        now += length[row];
        if (stream.kind[k] === MIXED) current = mixed++;
        else if (stream.kind[k] < CONTINUES) current = place[placed++] - 1;
        stream.place[k] = current;
      }
      stream.start[count] = now;
      return stream;
    });
  }

  function decodeWaits(bytes, head) {
    const [start, length, cause, metric, place] = columns(bytes, head);
    const stream = new Int32Array(head.rows);
    const begin = [0];
    let row = 0;
    head.counts.forEach((count, where) => {
      let now = 0;
      for (let k = 0; k < count; k += 1, row += 1) {
        stream[row] = where;
        now += start[row];
        start[row] = now;
        place[row] -= 1;
      }
      begin.push(row);
    });
    const order = Array.from({ length: head.rows }, (_, k) => k);
    order.sort((a, b) => length[b] - length[a] || a - b);
    return { rows: head.rows, begin, stream, start, length, cause, metric, place, order };
  }

  function decodeMessages(bytes, head) {
    const [send, flight, from, to, size] = columns(bytes, head);
    let now = 0;
    for (let row = 0; row < head.rows; row += 1) {
      now += send[row];
      send[row] = now;
      flight[row] += now;
    }
    return { rows: head.rows, send, receive: flight, from, to, size };
  }

  // Rows of the messages that a call sends or receives.
  function messagesIn(messages, stream, from, to) {
    const found = [];
    for (let row = 0; row < messages.rows; row += 1) {
      const { send, receive } = messages;
      const sends = messages.from[row] === stream && send[row] >= from && send[row] < to;
      const receives = messages.to[row] === stream && receive[row] > from && receive[row] <= to;
      if (sends || receives) found.push(row);
    }
    return found;
  }

  // The last of some ascending moments that is not behind a given one, else the row before them.
  function lastUntil(moments, moment, low, high) {
    while (low < high) {
      const middle = (low + high) >> 1;
      if (moments[middle] <= moment) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  // The piece that holds a moment; the last one that begins then.
  function pieceAt(stream, moment) {
    return Math.max(lastUntil(stream.start, moment, 0, stream.kind.length), 0);
  }

  const kindOf = (stream, piece) => stream.kind[piece] & 127;

  // Adds the time of each kind in columns of one width between two moments: column after column.
  function addTimes(stream, from, to, columns, sums) {
    const { start, kind, place, time, kinds } = stream;
    const count = kind.length;
    if (!count) return;
    const scale = columns / (to - from);
    const put = (begin, end, of) => {
      let column = Math.min(columns - 1, Math.floor((begin - from) * scale));
      const last = Math.min(columns - 1, Math.floor((end - from) * scale));
      if (column === last) {
        sums[column * kinds + of] += end - begin;
        return;
      }
      sums[column * kinds + of] += from + (column + 1) / scale - begin;
      for (column += 1; column < last; column += 1) sums[column * kinds + of] += 1 / scale;
      sums[last * kinds + of] += end - (from + last / scale);
    };
    const mixed = (begin, end, piece) => {
      const row = place[piece] * kinds;
      const whole = start[piece + 1] - start[piece];
      let column = Math.min(columns - 1, Math.floor((begin - from) * scale));
      while (begin < end && column < columns) {
        const until = column === columns - 1 ? end : Math.min(end, from + (column + 1) / scale);
        const share = Math.max(0, until - begin) / whole;
        for (let k = 0; k < kinds; k += 1) sums[column * kinds + k] += time[row + k] * share;
        begin = Math.max(begin, until);
        column += 1;
      }
    };
    for (let piece = pieceAt(stream, from); piece < count && start[piece] < to; piece += 1) {
      const begin = Math.max(start[piece], from);
      const end = Math.min(start[piece + 1], to);
      if (end <= begin) continue;
      const of = kind[piece] & 127;
      if (of === MIXED) mixed(begin, end, piece);
      else put(begin, end, of);
    }
  }

  // Heights in pixels of the kinds of one column, exact to a pixel: what is there has at least one,
  // which is taken from the largest.
  function heights(sums, offset, kinds, pixels, into) {
    let whole = 0;
    for (let k = 0; k < kinds; k += 1) whole += sums[offset + k];
    if (!(whole > 0)) return false;
    let reached = 0;
    let drawn = 0;
    let missing = 0;
    for (let k = 0; k < kinds; k += 1) {
      const time = sums[offset + k];
      reached += time;
      const until = Math.round((reached / whole) * pixels);
      into[k] = until - drawn;
      drawn = until;
      if (time > 0 && into[k] === 0) {
        into[k] = 1;
        missing += 1;
      }
    }
    while (missing > 0) {
      let largest = 0;
      for (let k = 1; k < kinds; k += 1) if (into[k] > into[largest]) largest = k;
      if (into[largest] <= 1) break;
      into[largest] -= 1;
      missing -= 1;
    }
    return true;
  }

  // The longest piece between two moments, -1 if none is a single one; and how many there are.
  function largestIn(stream, from, to) {
    let largest = -1;
    let longest = 0;
    let count = 0;
    if (!stream.kind.length) return { piece: -1, count };
    for (let piece = pieceAt(stream, from); piece < stream.kind.length; piece += 1) {
      if (stream.start[piece] >= to) break;
      count += 1;
      const overlap = Math.min(stream.start[piece + 1], to) - Math.max(stream.start[piece], from);
      if (kindOf(stream, piece) !== MIXED && overlap > longest) {
        longest = overlap;
        largest = piece;
      }
    }
    return { piece: largest, count };
  }

  // The first and the last piece of the call that a piece is in.
  function callAround(stream, piece) {
    let first = piece;
    let last = piece;
    while (first > 0 && stream.kind[first] >= CONTINUES) first -= 1;
    while (last + 1 < stream.kind.length && stream.kind[last + 1] >= CONTINUES) last += 1;
    return { first, last };
  }

  // The wait that holds a moment of a stream, or -1.
  function waitAt(waits, stream, moment) {
    const [begin, end] = [waits.begin[stream], waits.begin[stream + 1]];
    const row = lastUntil(waits.start, moment, begin, end);
    const holds = row >= begin && moment < waits.start[row] + waits.length[row];
    return holds ? row : -1;
  }

  // The wait that the late side had longest while it was waited for, or -1.
  function waitBehind(waits, wait) {
    const from = waits.start[wait];
    const to = from + waits.length[wait];
    let longest = 0;
    let found = -1;
    for (let row = waits.begin[waits.cause[wait]]; row < waits.begin[waits.cause[wait] + 1]; row++) {
      const overlap =
        Math.min(waits.start[row] + waits.length[row], to) - Math.max(waits.start[row], from);
      if (overlap > longest) {
        longest = overlap;
        found = row;
      }
    }
    return found;
  }

  function chainOf(waits, wait, most) {
    const chain = [wait];
    while (chain.length < most) {
      const behind = waitBehind(waits, chain[chain.length - 1]);
      if (behind < 0 || chain.includes(behind)) break;
      chain.push(behind);
    }
    return chain;
  }

  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]];

  // Three digits, as everywhere on the page.
  function timeText(ns) {
    for (const [size, unit] of UNITS) {
      if (Math.abs(ns) >= size) {
        const value = ns / size;
        const whole = String(Math.trunc(Math.abs(value))).length;
        return `${value.toFixed(Math.max(3 - whole, 0))} ${unit}`;
      }
    }
    return `${Math.round(ns)} ns`;
  }

  function shareText(value, whole) {
    const share = whole ? value / whole : 0;
    if (!share) return "0 %";
    return share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
  }

  // A sentence from a template: {name} is replaced by the text of that name.
  function filled(template, texts) {
    return template.replace(/\{(\w+)\}/g, (_, name) => texts[name] ?? "");
  }

  // Moments of an axis: round ones, some pixels apart.
  function ticks(from, to, most) {
    const least = (to - from) / Math.max(most, 1);
    let step = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    for (const factor of [1, 2, 5, 10]) {
      if (step * factor >= least) {
        step *= factor;
        break;
      }
    }
    const found = [];
    for (let k = Math.ceil(from / step); k * step <= to; k += 1) found.push(k * step);
    return { step, moments: found };
  }

  // A moment of an axis, with as many digits as tell neighbours apart.
  function tickText(moment, step, to) {
    const [size, unit] = UNITS.find(([each]) => to >= each) || [1, "ns"];
    const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
    return `${(moment / size).toFixed(Math.min(digits, 9))} ${unit}`;
  }

  return {
    MIXED, addTimes, callAround, chainOf, decodeMessages, decodePieces, decodeWaits, filled,
    heights, kindOf, largestIn, messagesIn, pieceAt, shareText, tickText, ticks, timeText, waitAt, waitBehind,
  };
})();
if (typeof module !== "undefined") module.exports = burstlinePieces;
