// The timeline: lanes of pieces on a canvas, which zooms, pans and tells of what is picked.
"use strict";
(function () {
  const parts = burstlinePieces;
  const byId = (name) => document.getElementById(name);
  const block = byId("tl-data");
  if (!block) return;
  const data = JSON.parse(block.textContent);
  const page = window.burstline;
  const { element, button } = page;
  const { names, labels, hatches, words, places, lanes } = data;
  const kinds = names.length;
  const LEFT = 76;
  const TOP = 22;
  const FOOT = 20;
  const ALL = 40;
  const LEAST_LABEL = 92;
  const LEAST_SPAN = 100; // ns
  const canvas = byId("tl-lanes");
  const all = byId("tl-all");
  const tip = byId("tl-tip");
  const heading = document.querySelector("#timeline h2, #timeline h1");
  const titleText = heading && [...heading.childNodes].find((node) => node.nodeType === 3);
  const state = { from: 0, to: data.length, view: data.opened, pick: null, lit: -1 };
  let streams = null;
  let waits = null;
  let messages = null;
  let layout = null;
  let colours = null;
  let overview = null;
  let asked = false;
  let shownTotals = new Float64Array(kinds);
  const sumOf = (times) => times.reduce((sum, time) => sum + time, 0);

  // ---- data

  function bytesOf(name) {
    const text = byId(name).textContent;
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  }

  async function inflated(name) {
    const packed = new Blob([bytesOf(name)]).stream();
    const plain = packed.pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(plain).arrayBuffer());
  }

  const membersOf = lanes.names.map(() => []);
  lanes.lane.forEach((lane, stream) => membersOf[lane].push(stream));

  // ---- colours

  function packed(text) {
    const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    probe.fillStyle = text;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  }

  const mixed = (a, b, share) => a.map((value, k) => Math.round(value * share + b[k] * (1 - share)));
  const word = ([red, green, blue]) => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  const css = ([red, green, blue]) => `rgb(${red},${green},${blue})`;

  const SAME = { openmp: "other-mpi", threads: "collective", late_receiver: "late-sender", idle: "ends", not_recorded: "paper" };

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => packed(style.getPropertyValue(`--${name}`).trim() || "#888");
    const paper = of("paper");
    const ink = of("ink");
    const solid = names.map((name) => of(SAME[name] || name.replaceAll("_", "-")));
    const isDark = paper[0] < 128;
    const dark = solid.map((colour) => mixed([0, 0, 0], colour, isDark ? 0.42 : 0.28));
    dark[names.indexOf("not_recorded")] = of("line");
    colours = {
      paper, ink, second: of("ink-2"), third: of("ink-3"), line: of("line"),
      solid: solid.map(word),
      dark: dark.map(word),
      dimSolid: solid.map((colour) => word(mixed(colour, paper, 0.22))),
      dimDark: dark.map((colour) => word(mixed(colour, paper, 0.22))),
      css: solid.map(css),
      text: solid.map((colour) => {
        const light = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2];
        return light > 118 ? "#15181c" : "#ffffff";
      }),
    };
    overview = null;
  }

  // Whether a hatch has ink at a pixel: lines 6 pixels apart, as in the drawings of the page.
  const PERIOD = 6;
  const hatched = {
    "": () => false,
    a: (x, y) => (x + y) % PERIOD < 2,
    b: (x, y) => (x - y + 6000) % PERIOD < 2,
    c: (x, y) => y % PERIOD < 2,
    d: (x) => x % PERIOD < 2,
    n: (x, y) => (x + y) % PERIOD < 1,
  };
  const tiles = hatches.map((hatch) => {
    const tile = new Uint8Array(PERIOD * PERIOD);
    for (let y = 0; y < PERIOD; y += 1) {
      for (let x = 0; x < PERIOD; x += 1) tile[y * PERIOD + x] = hatched[hatch](x, y) ? 1 : 0;
    }
    return tile;
  });

  // ---- drawing

  function measure() {
    const wide = canvas.parentNode.clientWidth || 1000;
    const count = lanes.names.length;
    const pitch = Math.max(10, Math.min(36, Math.floor(660 / Math.max(count, 1))));
    const gap = pitch >= 24 ? 6 : 2;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    layout = {
      wide, pitch, gap, ratio, lane: pitch - gap, high: TOP + count * pitch + FOOT,
      columns: Math.max(1, Math.round((wide - LEFT) * ratio)),
    };
    for (const [each, high] of [[canvas, layout.high], [all, ALL]]) {
      each.width = Math.round(wide * ratio);
      each.height = Math.round(high * ratio);
      each.style.height = `${high}px`;
    }
    layout.image = null;
    overview = null;
  }

  const xOf = (moment) => LEFT + ((moment - state.from) / (state.to - state.from)) * (layout.wide - LEFT);
  const momentOf = (x) => state.from + ((x - LEFT) / (layout.wide - LEFT)) * (state.to - state.from);
  const topOf = (lane) => TOP + lane * layout.pitch;

  const heightsOf = new Int32Array(kinds);

  // One lane into an image: each column divided by kind, computing at the bottom.
  function paint(pixels, wide, top, high, columns, sums, solid, dark) {
    for (let x = 0; x < columns; x += 1) {
      if (!parts.heights(sums, x * kinds, kinds, high, heightsOf)) continue;
      let y = top + high;
      for (let k = 0; k < kinds; k += 1) {
        const tile = tiles[k];
        const column = x % PERIOD;
        for (let n = heightsOf[k]; n > 0; n -= 1) {
          y -= 1;
          pixels[y * wide + x] = tile[(y % PERIOD) * PERIOD + column] ? dark[k] : solid[k];
        }
      }
    }
  }

  function palette(isDim) {
    const { solid, dark, dimSolid, dimDark } = colours;
    if (isDim) return [dimSolid, dimDark];
    if (state.lit < 0) return [solid, dark];
    const choose = (bright, dim) => bright.map((colour, k) => (k === state.lit ? colour : dim[k]));
    return [choose(solid, dimSolid), choose(dark, dimDark)];
  }

  function drawLanes() {
    const context = canvas.getContext("2d");
    const { ratio, columns, lane, pitch } = layout;
    const high = Math.round(lanes.names.length * pitch * ratio);
    if (!layout.image) {
      layout.image = context.createImageData(columns, high);
      layout.pixels = new Uint32Array(layout.image.data.buffer);
      layout.sums = new Float64Array(columns * kinds);
    }
    layout.pixels.fill(word(colours.paper));
    shownTotals = new Float64Array(kinds);
    const [solid, dark] = palette(false);
    membersOf.forEach((members, row) => {
      layout.sums.fill(0);
      for (const stream of members) {
        parts.addTimes(streams[stream], state.from, state.to, columns, layout.sums);
      }
      for (let k = 0; k < layout.sums.length; k += 1) shownTotals[k % kinds] += layout.sums[k];
      const top = Math.round(row * pitch * ratio);
      paint(layout.pixels, columns, top, Math.round(lane * ratio), columns, layout.sums, solid, dark);
    });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.putImageData(layout.image, canvas.width - columns, Math.round(TOP * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawAround(context);
    membersOf.forEach((members, row) => {
      if (members.length === 1 && lane >= 14) drawLabels(context, streams[members[0]], row);
    });
    drawPicked(context);
  }

  function font(context, size, align = "left") {
    const family = getComputedStyle(document.body).fontFamily;
    context.font = `400 ${size}px ${family}`;
    context.textBaseline = "middle";
    context.textAlign = align;
  }

  // Names of lanes, moments below, iterations above.
  function drawAround(context) {
    const { wide, lane, high } = layout;
    font(context, lane >= 14 ? 12 : 9.5);
    context.fillStyle = css(colours.second);
    lanes.names.forEach((name, row) => {
      context.fillText(name, 0, topOf(row) + lane / 2, LEFT - 6);
    });
    font(context, 11, "center");
    const { step, moments } = parts.ticks(state.from, state.to, (wide - LEFT) / 110);
    for (const moment of moments) {
      const x = xOf(moment);
      context.fillStyle = css(colours.line);
      context.fillRect(x, TOP - 4, 1, 3);
      context.fillStyle = css(colours.second);
      if (x < wide - 30) context.fillText(parts.tickText(moment, step, state.to), x, high - 8);
    }
    if (data.steps) drawSteps(context);
  }

  function drawSteps(context) {
    const { begin, number } = data.steps;
    let free = LEFT - 40;
    context.textAlign = "left";
    for (let k = 0; k < begin.length; k += 1) {
      const x = xOf(begin[k]);
      const next = k + 1 < begin.length ? xOf(begin[k + 1]) : layout.wide;
      if (next < LEFT || x > layout.wide) continue;
      if (x >= LEFT) {
        context.fillStyle = css(colours.third);
        context.fillRect(Math.round(x), 3, 1, 14);
      }
      const text = next - x > 76 ? `iteration ${number[k]}` : String(number[k]);
      const at = Math.max(x, LEFT) + 5;
      if (at < free || next - at < context.measureText(text).width) continue;
      context.fillStyle = css(colours.second);
      context.fillText(text, at, 10);
      free = at + context.measureText(text).width + 8;
    }
  }

  function shortPlace(stream, piece) {
    const kind = parts.kindOf(stream, piece);
    const place = stream.place[piece];
    const isComputing = names[kind] === "computing";
    if (kind === parts.MIXED || place < 0) return isComputing ? "computing" : "";
    if (isComputing) return places[place][0].startsWith("computing") ? "computing" : places[place][0];
    const [name, where] = places[place];
    return `${name.replace(/^MPI_/, "")} ${where}`.trim();
  }

  // As much of a text as there is room for.
  function fitted(context, text, room) {
    if (context.measureText(text).width <= room) return text;
    let length = text.length - 1;
    while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > room) length -= 1;
    return `${text.slice(0, length)}…`;
  }

  function drawLabels(context, stream, row) {
    const { wide, lane } = layout;
    font(context, 11.5);
    const least = (LEAST_LABEL / (wide - LEFT)) * (state.to - state.from);
    let piece = Math.max(0, parts.pieceAt(stream, state.from));
    for (; piece < stream.kind.length && stream.start[piece] < state.to; piece += 1) {
      const { last } = parts.callAround(stream, piece);
      const begin = Math.max(stream.start[piece], state.from);
      const length = Math.min(stream.start[last + 1], state.to) - begin;
      const kind = parts.kindOf(stream, piece);
      // The label stands on the first piece of a call that has room for some of it.
      const own = Math.min(stream.start[piece + 1], state.to) - begin;
      if (kind === parts.MIXED || length < least || own < least / 2) continue;
      const text = shortPlace(stream, piece);
      piece = last;
      if (!text || (state.lit >= 0 && state.lit !== kind)) continue;
      const x = xOf(begin);
      const room = xOf(begin + (own < least ? length : own)) - x - 14;
      const shown = fitted(context, text, room);
      context.fillStyle = colours.css[kind];
      context.fillRect(x + 5, topOf(row) + lane / 2 - 8, context.measureText(shown).width + 6, 16);
      context.fillStyle = colours.text[kind];
      context.fillText(shown, x + 8, topOf(row) + lane / 2 + 0.5);
    }
  }

  // The picked call in a box, the late rank in a dashed one, and the message or arrival between.
  function drawPicked(context) {
    const pick = state.pick;
    if (!pick) return;
    const call = callOf(pick);
    box(context, lanes.lane[pick.stream], call.from, call.to, []);
    for (const row of messagesOf(pick).slice(0, 100)) {
      const [from, to] = [messages.from[row], messages.to[row]];
      arrow(context, lanes.lane[from], messages.send[row], lanes.lane[to], messages.receive[row], true);
    }
    const wait = waitOf(pick);
    if (wait < 0) return;
    const cause = lanes.lane[waits.cause[wait]];
    box(context, cause, waits.start[wait], endOf(wait), [4, 3]);
    arrow(context, cause, endOf(wait), lanes.lane[pick.stream], call.to);
  }

  function box(context, lane, from, to, dashes) {
    const x = Math.max(xOf(from), LEFT - 3);
    const end = Math.min(xOf(to), layout.wide + 3);
    if (end < LEFT || x > layout.wide) return;
    context.save();
    context.strokeStyle = css(colours.ink);
    context.lineWidth = 1.75;
    context.setLineDash(dashes);
    context.strokeRect(x, topOf(lane) - 1.5, Math.max(end - x, 2), layout.lane + 3);
    context.restore();
  }

  function arrow(context, fromLane, fromTime, toLane, toTime, isThin) {
    if (fromLane === toLane) return;
    const isDown = toLane > fromLane;
    const [x1, x2] = [xOf(fromTime), xOf(toTime)];
    const y1 = topOf(fromLane) + (isDown ? layout.lane : 0);
    const y2 = topOf(toLane) + (isDown ? 0 : layout.lane);
    context.save();
    context.beginPath();
    context.rect(LEFT - 3, 0, layout.wide, layout.high);
    context.clip();
    context.strokeStyle = context.fillStyle = css(isThin ? colours.second : colours.ink);
    context.lineWidth = isThin ? 0.75 : 1.25;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    const angle = Math.atan2(y2 - y1, x2 - x1);
    context.beginPath();
    context.moveTo(x2, y2);
    for (const turn of [0.4, -0.4]) {
      context.lineTo(x2 - 8 * Math.cos(angle + turn), y2 - 8 * Math.sin(angle + turn));
    }
    context.fill();
    context.restore();
  }

  // All ranks in one row, the shown part bright.
  function drawOverview() {
    const context = all.getContext("2d");
    const { ratio, columns, wide } = layout;
    const high = Math.round(ALL * ratio) - 4;
    if (!overview) {
      overview = new Float64Array(columns * kinds);
      for (const stream of streams) parts.addTimes(stream, 0, data.length, columns, overview);
    }
    const images = [false, true].map((isDim) => {
      const image = context.createImageData(columns, high);
      const pixels = new Uint32Array(image.data.buffer);
      pixels.fill(word(colours.paper));
      paint(pixels, columns, 0, high, columns, overview, ...palette(isDim));
      return image;
    });
    const left = all.width - columns;
    const begin = Math.floor((state.from / data.length) * columns);
    const end = Math.max(begin + 1, Math.ceil((state.to / data.length) * columns));
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, all.width, all.height);
    context.putImageData(images[1], left, 2);
    context.putImageData(images[0], left, 2, begin, 0, end - begin, high);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    font(context, 12);
    context.fillStyle = css(colours.second);
    context.fillText("all", 0, ALL / 2);
    context.strokeStyle = css(colours.ink);
    context.lineWidth = 1.5;
    const x = LEFT + (begin / columns) * (wide - LEFT);
    context.strokeRect(x, 1, Math.max(((end - begin) / columns) * (wide - LEFT), 2), ALL - 2);
  }

  // ---- words

  const stepAt = (from, to) => {
    if (!data.steps) return 0;
    const { begin, end, number } = data.steps;
    const row = begin.findIndex((each, k) => each <= from && to <= end[k]);
    return row < 0 ? 0 : number[row];
  };

  function whereText(from, to) {
    const step = stepAt(from, to);
    if (step) return parts.filled(words.step, { number: step });
    return parts.filled(words.span, { begin: parts.timeText(from), end: parts.timeText(to) });
  }

  // The same sentence as the page has it without scripts.
  function viewTitle() {
    const kind = shownTotals.indexOf(Math.max(...shownTotals));
    const view = data.views.find((each) => each.name === state.view);
    let where = whereText(state.from, state.to);
    if (view && view.name === "whole") where = words.whole;
    if (view && view.step) where = parts.filled(words.step, { number: view.step });
    const time = view && view.mean ? parts.filled(words.mean, { time: view.mean }) : parts.timeText(state.to - state.from);
    return parts.filled(words.view, {
      where, who: "ranks", time, does: words.do[kind],
      share: parts.shareText(shownTotals[kind], sumOf(shownTotals)), tail: words.tails[kind],
    });
  }

  // The call that a piece is in: its first and last piece, its begin and its end.
  function callOf({ stream, piece }) {
    const { first, last } = parts.callAround(streams[stream], piece);
    const { start } = streams[stream];
    return { first, last, from: start[first], to: start[last + 1] };
  }

  const endOf = (wait) => waits.start[wait] + waits.length[wait];

  function messagesOf(pick) {
    const { from, to } = callOf(pick);
    return parts.messagesIn(messages, pick.stream, from, to);
  }

  function messageText(row) {
    const isSent = messages.from[row] === state.pick.stream;
    return parts.filled(isSent ? words.sent : words.received, {
      size: messages.size[row].toLocaleString("en"),
      who: lanes.streams[isSent ? messages.to[row] : messages.from[row]],
      time: parts.timeText(messages.receive[row] - messages.send[row]),
    });
  }

  // A wait lies from the enter of its call on: at most one of a call is told.
  const waitOf = (pick) => (waits.rows ? parts.waitAt(waits, pick.stream, callOf(pick).from) : -1);

  const atPlace = (place) => (place < 0 ? "" : places[place][3]);

  // The time of each kind that some streams have between two moments.
  function timesOf(members, from, to) {
    const sums = new Float64Array(kinds);
    for (const stream of members) parts.addTimes(streams[stream], from, to, 1, sums);
    return sums;
  }

  const meanwhileOf = (wait) => timesOf([waits.cause[wait]], waits.start[wait], endOf(wait));

  function pickTitle() {
    const stream = streams[state.pick.stream];
    const call = callOf(state.pick);
    const wait = waitOf(state.pick);
    const kind = parts.kindOf(stream, state.pick.piece);
    const [from, to] = wait < 0 ? [call.from, call.to] : [waits.start[wait], endOf(wait)];
    const texts = {
      where: whereText(from, to), who: lanes.streams[state.pick.stream],
      place: atPlace(stream.place[call.first]), time: parts.timeText(to - from),
      does: words.does[kind], tail: words.tails[kind],
    };
    if (wait < 0) return parts.filled(words.piece, texts);
    const sums = meanwhileOf(wait);
    const meanwhile = words.meanwhile[sums.indexOf(Math.max(...sums))];
    return parts.filled(words.wait, { ...texts, cause: lanes.streams[waits.cause[wait]], meanwhile });
  }

  // Whether some of what is shown is told by shares alone.
  function lacksPieces() {
    if (data.exact) return false;
    return streams.some((stream) => {
      for (let k = parts.pieceAt(stream, state.from); k < stream.kind.length; k += 1) {
        if (stream.start[k] >= state.to) return false;
        if (parts.kindOf(stream, k) === parts.MIXED) return true;
      }
      return false;
    });
  }

  function showTitle() {
    let title = state.pick ? pickTitle() : viewTitle();
    if (lacksPieces()) {
      const [from, to] = [state.from, state.to].map((moment) => Math.round(moment + data.first));
      title = parts.filled(words.less, { title, options: `--from ${from}ns --to ${to}ns` });
    }
    if (titleText) titleText.nodeValue = title;
    canvas.setAttribute("aria-label", title);
    const [from, to] = [state.from, state.to].map(parts.timeText);
    byId("tl-span").textContent = `${from} to ${to} · ${parts.timeText(state.to - state.from)} shown`;
    for (const button of document.querySelectorAll("[data-view]")) {
      button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
    }
  }

  function showLegend() {
    const whole = sumOf(shownTotals);
    for (const button of document.querySelectorAll("#tl-legend button")) {
      const kind = Number(button.dataset.kind);
      button.querySelector("b").textContent = parts.shareText(shownTotals[kind], whole);
      button.classList.toggle("none", !shownTotals[kind]);
      button.setAttribute("aria-pressed", String(state.lit === kind));
    }
  }

  function fill(name, head, ...rows) {
    byId(`tl-${name}-head`).textContent = head;
    byId(`tl-${name}`).replaceChildren(
      ...rows.filter(Boolean).map((row) => {
        const line = element("p");
        line.append(...[row].flat());
        return line;
      }),
    );
  }

  function shareList(sums) {
    const whole = sumOf(sums);
    const order = [...sums.keys()].filter((kind) => sums[kind]).sort((a, b) => sums[b] - sums[a]);
    const told = order.slice(0, 3).map((kind) => `${labels[kind]} ${parts.shareText(sums[kind], whole)}`);
    return told.join(", ");
  }

  function showPanel() {
    if (!state.pick) {
      fill("what", "Nothing picked", "Click a piece, or press n for the longest wait.");
      fill("from", "");
      fill("why", "");
      return;
    }
    const stream = streams[state.pick.stream];
    const { first, from, to } = callOf(state.pick);
    const kind = parts.kindOf(stream, first);
    const [name, where, around] = stream.place[first] < 0 ? [labels[kind], "", ""] : places[stream.place[first]];
    const step = stepAt(from, to);
    const sums = timesOf([state.pick.stream], from, to);
    const who = lanes.streams[state.pick.stream] + (step ? `, iteration ${step}` : "");
    fill(
      "what", `Picked: ${who}`, [element("code", "", name), ` ${where}`],
      [element("strong", "", parts.timeText(to - from)), ` from ${parts.timeText(from)}`], shareList(sums),
    );
    const carried = messagesOf(state.pick);
    fill(
      "from", "Called from", [element("code", "", around || "not known")],
      ...carried.slice(0, 3).map(messageText),
      carried.length > 3 && parts.filled(words.more, { count: carried.length - 3 }),
    );
    showCause(waitOf(state.pick), kind);
  }

  function showCause(wait, kind) {
    if (wait < 0) {
      const tail = words.tails[kind].replace(/^; /, "");
      return fill("why", "", tail && `${tail[0].toUpperCase()}${tail.slice(1)}.`);
    }
    const who = lanes.streams[waits.cause[wait]];
    const place = waits.place[wait];
    const rows = parts.chainOf(waits, wait, 6).slice(1).map((behind) => {
      const said = `${lanes.streams[waits.stream[behind]]} waited ${parts.timeText(waits.length[behind])} for ${lanes.streams[waits.cause[behind]]}`;
      return ["Behind it: ", button(said, () => pickWait(behind))];
    });
    const time = parts.timeText(waits.length[wait]);
    fill(
      "why", `Waits for ${who}`, [`${who[0].toUpperCase()}${who.slice(1)} comes `, element("strong", "", time), ` late (${data.metrics[waits.metric[wait]]}).`],
      `Meanwhile it was: ${shareList(meanwhileOf(wait))}.`,
      place >= 0 && ["It took longer in ", element("code", "", places[place][0]), ` ${places[place][1]}`], ...rows,
    );
    return undefined;
  }

  // ---- what is shown

  function draw() {
    drawLanes();
    drawOverview();
    showTitle();
    showLegend();
  }

  function redraw() {
    if (asked || !streams) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  }

  function show(from, to, view) {
    const length = Math.min(Math.max(to - from, LEAST_SPAN), data.length);
    const middle = (from + to) / 2;
    state.from = Math.min(Math.max(middle - length / 2, 0), data.length - length);
    state.to = state.from + length;
    state.view = view || "";
    remember();
    redraw();
  }

  const pan = (share) => {
    const by = (state.to - state.from) * share;
    show(state.from + by, state.to + by);
  };

  function zoom(factor, at = (state.from + state.to) / 2) {
    show(at - (at - state.from) * factor, at + (state.to - at) * factor);
  }

  function pick(stream, piece) {
    state.pick = { stream, piece };
    showPanel();
    remember();
    redraw();
  }

  function clear() {
    state.pick = null;
    state.lit = -1;
    showPanel();
    remember();
    redraw();
  }

  function pickWait(wait) {
    const stream = waits.stream[wait];
    pick(stream, parts.pieceAt(streams[stream], waits.start[wait]));
    const [from, until, length] = [waits.start[wait], endOf(wait), waits.length[wait]];
    if (from < state.from || until > state.to || length * 40 < state.to - state.from) {
      show(from - length / 2, until + length / 2);
    }
  }

  function goTo(name) {
    const view = data.views.find((each) => each.name === name);
    if (!view) return;
    if (name === "worst" && waits.rows) pickWait(waits.order[0]);
    show(view.from, view.to, name);
  }

  // Others of the page name what is to be shown: a call, a wait of one rank for another, a step.
  function goToPlace(text) {
    const [what, ...rest] = String(text).split(":");
    const [a, b, c] = rest.map(Number);
    if (what === "call" && streams[a]) {
      const moment = c - data.first;
      const piece = parts.pieceAt(streams[a], moment);
      const length = callOf({ stream: a, piece }).to - moment;
      show(moment - length / 2, moment + length * 1.5);
      if (parts.kindOf(streams[a], piece) !== parts.MIXED) pick(a, piece);
    } else if ((what === "pair" || what === "wait") && waits.rows) {
      const found = waits.order.find((row) => lanes.ranks[waits.stream[row]] === a && lanes.ranks[waits.cause[row]] === b);
      if (found !== undefined) pickWait(found);
    } else if (what === "step" && data.steps) {
      const row = data.steps.number.indexOf(a);
      const margin = row < 0 ? 0 : (data.steps.end[row] - data.steps.begin[row]) * 0.02;
      if (row >= 0) show(data.steps.begin[row] - margin, data.steps.end[row] + margin);
    } else return;
    canvas.scrollIntoView({ block: "center" });
  }

  // ---- the address

  function remember() {
    page.view.write({
      t: state.view === data.opened ? null : `${Math.round(state.from)}-${Math.round(state.to)}`,
      p: state.pick ? `${state.pick.stream}-${Math.round(streams[state.pick.stream].start[state.pick.piece])}` : null,
      k: state.lit < 0 ? null : names[state.lit],
    });
  }

  function recall() {
    const { values } = page.view.read();
    const numbers = (name) => (values.get(name) || "").split("-").map(Number);
    const opened = data.views.find((view) => view.name === data.opened);
    state.view = data.opened;
    [state.from, state.to] = [opened.from, opened.to];
    const [from, to] = numbers("t");
    if (to - from >= LEAST_SPAN && from >= 0 && to <= data.length) {
      const view = data.views.find((each) => each.from === from && each.to === to);
      [state.from, state.to, state.view] = [from, to, view ? view.name : ""];
    }
    const [stream, moment] = numbers("p");
    if (streams[stream] && moment >= 0 && moment < data.length) {
      const piece = parts.pieceAt(streams[stream], moment);
      if (parts.kindOf(streams[stream], piece) !== parts.MIXED) state.pick = { stream, piece };
    }
    state.lit = names.indexOf(values.get("k"));
  }

  // ---- mouse and keys

  const laneAt = (y) => {
    const lane = Math.floor((y - TOP) / layout.pitch);
    return lane >= 0 && lane < lanes.names.length && y - topOf(lane) <= layout.lane ? lane : -1;
  };

  // The largest piece in a pixel of a lane.
  function pieceUnder(x, y) {
    const lane = laneAt(y);
    if (lane < 0 || x < LEFT) return null;
    let best = null;
    let pieces = 0;
    const [from, to] = [momentOf(x), momentOf(x + 1)];
    for (const stream of membersOf[lane]) {
      const { piece, count } = parts.largestIn(streams[stream], from, to);
      pieces += count;
      if (piece < 0) continue;
      const overlap = Math.min(streams[stream].start[piece + 1], to) - Math.max(streams[stream].start[piece], from);
      if (!best || overlap > best.overlap) best = { stream, piece, overlap };
    }
    return { lane, best, pieces, from, to };
  }

  function showTip(x, y) {
    const under = pieceUnder(x, y);
    tip.style.display = under ? "block" : "none";
    if (!under) return;
    let text = `${lanes.names[under.lane]} · ${parts.timeText(under.from)}`;
    if (under.best && under.pieces === 1) {
      const stream = streams[under.best.stream];
      const { piece } = under.best;
      text += `\n${labels[parts.kindOf(stream, piece)]}, ${parts.timeText(stream.start[piece + 1] - stream.start[piece])}`;
      text += `\n${shortPlace(stream, piece)}`;
    } else {
      text += under.best ? `\n${under.pieces} pieces in this pixel` : "\nshares of a stretch of time";
      text += `\n${shareList(timesOf(membersOf[under.lane], under.from, under.to))}`;
    }
    tip.textContent = text;
    tip.style.left = `${Math.min(x + 14, layout.wide - 240)}px`;
    tip.style.top = `${y + 16}px`;
  }

  function listen() {
    let drag = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      drag = { x: event.offsetX, y: event.offsetY, from: state.from, to: state.to, isZoom: event.shiftKey, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return showTip(event.offsetX, event.offsetY);
      const by = event.offsetX - drag.x;
      drag.moved = drag.moved || Math.abs(by) > 3;
      tip.style.display = "none";
      if (!drag.moved || drag.isZoom) return undefined;
      const shift = (by / (layout.wide - LEFT)) * (drag.to - drag.from);
      show(drag.from - shift, drag.to - shift);
      return undefined;
    });
    canvas.addEventListener("pointerup", (event) => {
      const done = drag;
      drag = null;
      if (!done) return;
      if (done.moved && done.isZoom) {
        const ends = [done.x, event.offsetX].sort((a, b) => a - b);
        show(...ends.map(momentOf));
      } else if (!done.moved) {
        const under = pieceUnder(done.x, done.y);
        if (under && under.best) pick(under.best.stream, under.best.piece);
      }
    });
    canvas.addEventListener("pointercancel", () => (drag = null));
    canvas.addEventListener("pointerleave", () => (tip.style.display = "none"));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(event.deltaX / (layout.wide - LEFT));
      else zoom(Math.exp(event.deltaY * 0.0018), momentOf(Math.max(event.offsetX, LEFT)));
    }, { passive: false });
    const centre = (event) => {
      const moment = ((event.offsetX - LEFT) / (layout.wide - LEFT)) * data.length;
      const half = (state.to - state.from) / 2;
      show(moment - half, moment + half);
    };
    all.addEventListener("pointerdown", (event) => {
      all.setPointerCapture(event.pointerId);
      centre(event);
    });
    all.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) centre(event);
    });
    canvas.addEventListener("keydown", press);
    const onClick = (selector, action) => {
      for (const each of document.querySelectorAll(selector)) {
        each.addEventListener("click", () => action(each.dataset));
      }
    };
    onClick("[data-view]", ({ view }) => goTo(view));
    onClick("[data-zoom]", ({ zoom: way }) => zoom(way === "in" ? 0.5 : 2));
    onClick("#tl-legend button", ({ kind }) => {
      state.lit = state.lit === Number(kind) ? -1 : Number(kind);
      remember();
      redraw();
    });
  }

  function move(by) {
    if (!state.pick) return pickWaitOrMiddle();
    const stream = streams[state.pick.stream];
    const { first, last } = callOf(state.pick);
    const piece = by < 0 ? first - 1 : last + 1;
    if (piece < 0 || piece >= stream.kind.length || parts.kindOf(stream, piece) === parts.MIXED) return undefined;
    pick(state.pick.stream, parts.callAround(stream, piece).first);
    return keepInView();
  }

  function pickWaitOrMiddle() {
    const under = pieceUnder((LEFT + layout.wide) / 2, topOf(0) + 2);
    if (under && under.best) pick(under.best.stream, under.best.piece);
  }

  function moveLane(by) {
    if (!state.pick) return pickWaitOrMiddle();
    const next = state.pick.stream + by;
    if (!streams[next]) return undefined;
    const { from, to } = callOf(state.pick);
    const begin = Math.max(from, state.from);
    const end = Math.min(to, state.to);
    const piece = parts.pieceAt(streams[next], (begin + Math.max(end, begin)) / 2);
    if (parts.kindOf(streams[next], piece) !== parts.MIXED) pick(next, piece);
    return undefined;
  }

  function keepInView() {
    const stream = streams[state.pick.stream];
    const begin = stream.start[state.pick.piece];
    if (begin >= state.from && begin < state.to) return;
    const half = (state.to - state.from) / 2;
    show(begin - half, begin + half);
  }

  function fit() {
    if (!state.pick) return;
    const { from, to } = callOf(state.pick);
    const margin = (to - from) * 0.1;
    show(from - margin, to + margin);
  }

  function pickCause() {
    const wait = state.pick ? waitOf(state.pick) : -1;
    if (wait < 0) return;
    const cause = waits.cause[wait];
    const { piece } = parts.largestIn(streams[cause], waits.start[wait], endOf(wait));
    if (piece >= 0) pick(cause, piece);
  }

  // The longest wait, then the next one that is shorter.
  function nextWait() {
    if (!waits.rows) return;
    const wait = state.pick ? waitOf(state.pick) : -1;
    const place = wait < 0 ? -1 : waits.order.indexOf(wait);
    pickWait(waits.order[(place + 1) % waits.rows]);
  }

  const KEYS = {
    a: () => pan(-0.2), ArrowLeft: () => pan(-0.2), d: () => pan(0.2), ArrowRight: () => pan(0.2),
    w: () => zoom(0.7), "+": () => zoom(0.7), s: () => zoom(1 / 0.7), "-": () => zoom(1 / 0.7),
    ArrowUp: () => moveLane(-1), ArrowDown: () => moveLane(1),
    ",": () => move(-1), ".": () => move(1),
    f: fit, c: pickCause, n: nextWait, 0: () => goTo("whole"), Escape: clear,
  };

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  }

  async function load() {
    streams = parts.decodePieces(await inflated("tl-pieces"), data.head);
    waits = parts.decodeWaits(await inflated("tl-waits"), data.head.waits);
    messages = parts.decodeMessages(await inflated("tl-messages"), data.head.messages);
    readColours();
    measure();
    recall();
    listen();
    showPanel();
    draw();
    const recolour = () => {
      readColours();
      redraw();
    };
    page.on("theme", recolour);
    page.on("go", goToPlace);
    addEventListener("hashchange", () => {
      state.pick = null;
      recall();
      showPanel();
      redraw();
    });
    new ResizeObserver(() => {
      if (layout.wide === canvas.parentNode.clientWidth) return;
      measure();
      redraw();
    }).observe(canvas.parentNode);
  }

  const failed = (error) => {
    byId("tl-note").textContent = `The timeline could not be drawn: ${error.message}`;
    document.documentElement.classList.add("tl-failed");
  };
  const loaded = load().catch(failed);
  window.burstlineTimeline = { loaded, draw, show, state, pickWait, messagesOf };
})();
