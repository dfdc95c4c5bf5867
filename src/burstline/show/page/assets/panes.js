// Metrics, call paths and threads as trees: what is picked in one divides the next.
"use strict";
const burstlineTrees = (() => {
  // Values of rows with those of all rows below them; parents come before their children.
  function withBelow(parent, own) {
    const sums = Float64Array.from(own);
    for (let row = parent.length - 1; row >= 0; row -= 1) {
      if (parent[row] >= 0) sums[parent[row]] += sums[row];
    }
    return sums;
  }

  // Whether each row is the given one or below it; of -1 all are.
  function isWithin(parent, top) {
    const inside = new Uint8Array(parent.length);
    for (let row = 0; row < parent.length; row += 1) {
      inside[row] = top < 0 || row === top || (parent[row] >= 0 && inside[parent[row]]) ? 1 : 0;
    }
    return inside;
  }

  // The values of call paths, and of threads within one of them, of a metric.
  function divided(data, metric, path) {
    const [paths, leaves, values] = data.values[metric];
    const byPath = new Float64Array(data.paths.parent.length);
    const byThread = new Float64Array(data.threads.parent.length);
    const inside = isWithin(data.paths.parent, path);
    for (let k = 0; k < values.length; k += 1) {
      byPath[paths[k]] += values[k];
      if (inside[paths[k]]) byThread[data.leaves[leaves[k]]] += values[k];
    }
    return { paths: withBelow(data.paths.parent, byPath), threads: withBelow(data.threads.parent, byThread) };
  }

  // The rows that are seen, from the top: those with a value whose callers are all open.
  function seen(parent, values, isOpen, bySize) {
    const children = new Map();
    for (let row = 0; row < parent.length; row += 1) {
      if (!values[row]) continue;
      if (!children.has(parent[row])) children.set(parent[row], []);
      children.get(parent[row]).push(row);
    }
    const rows = [];
    const add = (top, depth) => {
      const below = children.get(top) || [];
      if (bySize) below.sort((a, b) => values[b] - values[a] || a - b);
      for (const row of below) {
        const folds = children.has(row);
        rows.push({ row, depth, folds });
        if (folds && isOpen(row)) add(row, depth + 1);
      }
    };
    add(-1, 0);
    return rows;
  }

  // The rows that are open at first: those that hold most of what is above them.
  function opened(parent, values, share) {
    const open = new Set();
    let whole = 0;
    for (let row = 0; row < parent.length; row += 1) {
      if (parent[row] < 0) whole += values[row];
    }
    for (let row = 0; row < parent.length; row += 1) {
      const isNear = parent[row] < 0 || open.has(parent[row]);
      if (isNear && values[row] >= share * whole) open.add(row);
    }
    return open;
  }

  return { divided, isWithin, opened, seen, withBelow };
})();
if (typeof module !== "undefined") module.exports = burstlineTrees;

if (typeof document !== "undefined" && document.getElementById("panes-data"))
  (function () {
    const { divided, opened, seen } = burstlineTrees;
    const { view, element, button } = window.burstline;
    const { shareText, timeText } = burstlinePieces;
    const data = JSON.parse(document.getElementById("panes-data").textContent);
    const box = document.getElementById("panes");
    const title = document.querySelector("#panes-head h3");
    const totals = data.values.map(([, , values]) => values.reduce((sum, value) => sum + value, 0));
    const state = { metric: data.picked, path: -1 };

    // One pane: rows that fold, of which one has the focus and one is picked.
    function pane(label, nodes, { bySize, onPick }) {
      const made = element("div", "pane");
      const head = element("div", "pane-head");
      const name = element("span", "", label);
      const sorted = button("", () => {
        own.bySize = !own.bySize;
        draw(false);
      });
      const list = element("div", "pane-rows");
      list.setAttribute("role", "tree");
      list.setAttribute("aria-label", label);
      head.append(name, sorted);
      made.append(head, list);
      const own = { values: null, whole: 0, open: new Set(), picked: -1, focus: -1, bySize };

      const draw = (takesFocus) => {
        const rows = seen(nodes.parent, own.values, (row) => own.open.has(row), own.bySize);
        sorted.textContent = own.bySize ? "by time" : "in order";
        sorted.setAttribute("aria-label", `${label}: rows are ${own.bySize ? "sorted by time" : "in order"}`);
        if (!rows.some(({ row }) => row === own.focus)) own.focus = rows.length ? rows[0].row : -1;
        list.replaceChildren(
          ...rows.map(({ row, depth, folds }) => {
            const item = element("div", "pane-row");
            item.setAttribute("role", "treeitem");
            item.setAttribute("aria-level", String(depth + 1));
            item.setAttribute("aria-selected", String(row === own.picked));
            if (folds) item.setAttribute("aria-expanded", String(own.open.has(row)));
            item.dataset.row = String(row);
            item.tabIndex = row === own.focus ? 0 : -1;
            item.title = nodes.said[row] ? `${nodes.name[row]}: ${nodes.said[row]}` : nodes.name[row];
            const mark = element("span", "pane-fold", folds ? (own.open.has(row) ? "▾" : "▸") : "");
            const text = element("span", "pane-name", nodes.name[row]);
            text.classList.add(`pane-d${Math.min(depth, 12)}`);
            text.prepend(mark);
            const share = own.whole ? own.values[row] / own.whole : 0;
            const bar = element("meter", "pane-bar");
            bar.value = Math.max(0, Math.min(share, 1));
            bar.setAttribute("aria-hidden", "true");
            item.append(text, bar, element("span", "pane-share", shareText(own.values[row], own.whole)), element("span", "pane-time", timeText(own.values[row])));
            return item;
          }),
        );
        if (takesFocus) focusOn(own.focus);
      };
      const itemOf = (row) => list.querySelector(`[data-row="${row}"]`);
      const focusOn = (row) => {
        const item = itemOf(row);
        if (!item) return;
        for (const other of list.querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
        own.focus = row;
        item.tabIndex = 0;
        item.focus();
      };
      const fold = (row, isOpen) => {
        if (isOpen) own.open.add(row);
        else own.open.delete(row);
        draw(true);
      };
      const pick = (row, takesFocus) => {
        own.picked = row;
        own.focus = row;
        onPick(row);
        if (takesFocus) focusOn(row);
      };
      list.addEventListener("click", (event) => {
        const item = event.target.closest(".pane-row");
        if (!item) return;
        const row = Number(item.dataset.row);
        own.focus = row;
        if (event.target.closest(".pane-fold") && item.hasAttribute("aria-expanded")) fold(row, !own.open.has(row));
        else pick(row, true);
      });
      list.addEventListener("keydown", (event) => {
        const item = event.target.closest(".pane-row");
        if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
        const row = Number(item.dataset.row);
        const folds = item.hasAttribute("aria-expanded");
        const isOpen = folds && own.open.has(row);
        const step = (to) => to && focusOn(Number(to.dataset.row));
        if (event.key === "ArrowDown") step(item.nextElementSibling);
        else if (event.key === "ArrowUp") step(item.previousElementSibling);
        else if (event.key === "Home") step(list.firstElementChild);
        else if (event.key === "End") step(list.lastElementChild);
        else if (event.key === "ArrowRight" && folds && !isOpen) fold(row, true);
        else if (event.key === "ArrowRight" && isOpen) step(item.nextElementSibling);
        else if (event.key === "ArrowLeft" && isOpen) fold(row, false);
        else if (event.key === "ArrowLeft" && nodes.parent[row] >= 0) step(itemOf(nodes.parent[row]));
        else if (event.key === "Enter" || event.key === " ") pick(row, true);
        else return;
        event.preventDefault();
      });
      box.append(made);
      return { own, draw, name, nodes };
    }

    const show = () => {
      const found = divided(data, state.metric, state.path);
      const name = data.metrics.name[state.metric];
      metrics.own.picked = state.metric;
      metrics.draw(false);
      Object.assign(paths.own, { values: found.paths, whole: totals[state.metric], picked: state.path });
      paths.name.textContent = `${name} by call path`;
      paths.draw(false);
      const held = state.path < 0 ? totals[state.metric] : found.paths[state.path];
      Object.assign(threads.own, { values: found.threads, whole: held });
      threads.name.textContent = state.path < 0 ? `${name} by thread` : `${name} in ${data.paths.name[state.path]}`;
      threads.draw(false);
      const where = state.path < 0 ? "" : ` in ${data.paths.name[state.path]}`;
      title.textContent = `${name}${where} is ${timeText(held)}, ${shareText(held, data.whole)} of the time of all threads`;
      const isFirst = state.metric === data.picked && state.path < 0;
      view.write({ w: isFirst ? null : `${state.metric}${state.path < 0 ? "" : `-${state.path}`}` });
    };

    const openPaths = () => {
      paths.own.open = opened(data.paths.parent, divided(data, state.metric, -1).paths, 0.1);
    };
    box.replaceChildren();
    const metrics = pane("Metrics", data.metrics, {
      bySize: false,
      onPick(row) {
        state.metric = row;
        state.path = -1;
        openPaths();
        show();
      },
    });
    metrics.own.values = Float64Array.from(totals);
    metrics.own.whole = data.whole;
    metrics.own.open = new Set(data.metrics.parent.keys());
    const paths = pane("Call paths", data.paths, {
      bySize: true,
      onPick(row) {
        state.path = state.path === row ? -1 : row;
        show();
      },
    });
    const threads = pane("Threads", data.threads, { bySize: false, onPick: () => threads.draw(false) });
    threads.own.open = new Set(data.threads.parent.keys());

    const asked = /^(\d+)(?:-(\d+))?$/.exec(view.read().values.get("w") || "");
    const [metric, path] = asked ? asked.slice(1).map(Number) : [];
    if (metric < data.metrics.name.length) {
      state.metric = metric;
      if (path < data.paths.name.length) state.path = path;
    }
    openPaths();
    show();
    const chosen = box.querySelector("[aria-selected=true]");
    if (chosen) chosen.parentNode.scrollTop = chosen.offsetTop - chosen.parentNode.offsetTop - 240;
  })();
