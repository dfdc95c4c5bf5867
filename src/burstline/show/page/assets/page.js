// What a page does beyond being read: theme, sorting, search, folding, and the view in its address.
"use strict";
(function () {
  const root = document.documentElement;
  root.classList.add("js");

  // The part of the address behind # is a place, then what is picked there: #waits&loop=1&x=2.
  const view = {
    read() {
      const [place, ...pairs] = location.hash.slice(1).split("&");
      const values = new Map();
      for (const pair of pairs) {
        const [name, value] = pair.split("=", 2);
        try {
          values.set(name, decodeURIComponent(value || ""));
        } catch {
          values.set(name, "");
        }
      }
      return { place, values };
    },
    write(changes) {
      const { place, values } = this.read();
      for (const [name, value] of Object.entries(changes)) {
        if (value === null) values.delete(name);
        else values.set(name, String(value));
      }
      const pairs = [...values].map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
      const hash = [place, ...pairs].join("&");
      history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
    },
  };

  function element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  }

  function button(text, action) {
    const made = element("button", "", text);
    made.type = "button";
    made.addEventListener("click", action);
    return made;
  }

  // Others tell of what they show, and listen: a line that is picked, a time that is shown.
  const listeners = new Map();
  const page = {
    view,
    element,
    button,
    on(event, listener) {
      listeners.set(event, [...(listeners.get(event) || []), listener]);
    },
    tell(event, detail) {
      for (const listener of listeners.get(event) || []) listener(detail);
    },
  };
  window.burstline = page;

  function theme() {
    const button = document.getElementById("theme");
    const media = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : media.matches);
    const show = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      page.tell("theme", isDark());
    };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      view.write({ theme: root.dataset.theme });
      show();
    });
    media.addEventListener("change", show);
    const asked = view.read().values.get("theme");
    if (asked === "dark" || asked === "light") root.dataset.theme = asked;
    show();
  }

  function valueOf(cell) {
    const number = cell.dataset.v;
    return number === undefined ? cell.textContent.trim() : Number(number);
  }

  // Numbers first from large to small, texts from A to Z; nothing is behind everything.
  function compare(a, b, direction) {
    const missing = (value) => value === "" || value === "-" || value === "–";
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    if (typeof a === "number" && typeof b === "number") return (a - b) * direction;
    return String(a).localeCompare(String(b), "en", { numeric: true }) * direction;
  }

  function sort(table, head) {
    const column = head.cellIndex;
    const before = head.getAttribute("aria-sort");
    const isUp = before ? before === "descending" : !head.classList.contains("n");
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
    rows.sort(([a], [b]) => compare(a, b, isUp ? 1 : -1));
    body.append(...rows.map(([, row]) => row));
  }

  function tables() {
    for (const table of document.querySelectorAll("table.sort")) {
      for (const head of table.tHead.rows[0].cells) {
        head.tabIndex = 0;
        head.setAttribute("role", "columnheader");
        head.addEventListener("click", () => sort(table, head));
        head.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          sort(table, head);
        });
      }
    }
  }

  function folding() {
    for (const button of document.querySelectorAll("[data-fold]")) {
      const target = document.getElementById(button.dataset.fold);
      const words = [button.textContent, button.dataset.less];
      const set = (isBrief) => {
        target.classList.toggle("brief", isBrief);
        button.textContent = isBrief ? words[0] : words[1];
        button.setAttribute("aria-expanded", String(!isBrief));
      };
      set(view.read().values.get(target.id) !== "all");
      button.addEventListener("click", () => {
        const isBrief = !target.classList.contains("brief");
        set(isBrief);
        view.write({ [target.id]: isBrief ? null : "all" });
      });
    }
  }

  // Panels of which one is shown: which, is in the address.
  function tabs() {
    for (const group of document.querySelectorAll("[data-tabs]")) {
      const panels = [...group.children];
      const bar = element("div", "tools");
      const show = (label) => {
        for (const panel of panels) panel.hidden = panel.dataset.tab !== label;
        for (const one of bar.children) {
          one.setAttribute("aria-pressed", String(one.textContent === label));
        }
      };
      for (const { dataset } of panels) {
        const isFirst = dataset.tab === panels[0].dataset.tab;
        const pressed = () => {
          show(dataset.tab);
          view.write({ [group.dataset.tabs]: isFirst ? null : dataset.tab });
        };
        bar.append(button(dataset.tab, pressed));
      }
      const asked = view.read().values.get(group.dataset.tabs);
      const known = panels.find((panel) => panel.dataset.tab === asked) || panels[0];
      show(known.dataset.tab);
      group.prepend(bar);
    }
  }

  function pick(target) {
    for (const other of document.querySelectorAll(".picked")) other.classList.remove("picked");
    target?.classList.add("picked");
  }

  // A row or cell that names where it happened: the timeline shows that, if there is one.
  function go(target) {
    pick(target.tagName === "TR" ? target : null);
    page.tell("go", target.dataset.go);
  }

  function picking() {
    for (const target of document.querySelectorAll("[data-go]")) {
      target.tabIndex = target.closest("table.m") ? -1 : 0;
      target.addEventListener("click", (event) => {
        if (!event.target.closest("a, button")) go(target);
      });
      target.addEventListener("keydown", (event) => {
        if (event.key === "Enter") go(target);
      });
    }
    for (const matrix of document.querySelectorAll("table.m")) roving(matrix);
    for (const step of document.querySelectorAll("[data-step]")) {
      step.addEventListener("click", () => page.tell("go", `step:${step.dataset.step}`));
    }
  }

  // One cell of a matrix takes part in the order of tabs; arrows go to the others, and what a
  // cell of ink holds is said below the matrix.
  const HOLDS = "td[data-go], td[title], td:not(.sum):not(:empty)";
  function roving(matrix) {
    const body = matrix.tBodies[0];
    const first = body.querySelector(HOLDS);
    if (!first) return;
    first.tabIndex = 0;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    body.addEventListener("keydown", (event) => {
      const move = moves[event.key];
      const cell = event.target.closest("td");
      if (!move || !cell) return;
      event.preventDefault();
      let row = cell.parentNode.sectionRowIndex;
      let column = cell.cellIndex;
      for (;;) {
        row += move[0];
        column += move[1];
        const next = body.rows[row] && body.rows[row].cells[column];
        if (!next) return;
        if (!next.matches(HOLDS)) continue;
        cell.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
        return;
      }
    });
    const note = matrix.closest(".scroll").nextElementSibling;
    if (!matrix.classList.contains("dense") || !note) return;
    const words = note.textContent;
    const say = (event) => {
      const cell = event.target.closest("td[title]");
      note.textContent = cell ? `${cell.title}. ${words}` : words;
    };
    body.addEventListener("focusin", say);
    body.addEventListener("pointerover", say);
  }

  // Functions, lines and ranks: what rows and headings say, found by their words.
  function search() {
    const box = document.getElementById("search");
    const list = document.getElementById("found");
    let entries = null;
    const all = () => {
      const places = document.querySelectorAll("main h2, main h3, main tbody tr");
      return [...places].map((place) => {
        const cells = place.cells ? [...place.cells] : [place];
        const shown = cells.map((cell) => cell.textContent.trim()).filter(Boolean).join(" · ");
        return { place, shown, words: shown.toLowerCase() };
      });
    };
    const reveal = (place) => {
      const brief = place.closest(".brief");
      if (brief && place.classList.contains("small")) {
        const unfold = document.querySelector(`[data-fold="${brief.id}"]`);
        if (unfold) unfold.click();
      }
      pick(place);
      place.scrollIntoView({ block: "center" });
    };
    const show = () => {
      const wanted = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      list.replaceChildren();
      view.write({ find: box.value || null });
      if (!wanted.length) return;
      entries = entries || all();
      const found = entries.filter(({ words }) => wanted.every((word) => words.includes(word)));
      for (const { place, shown } of found.slice(0, 40)) {
        const item = element("li");
        const anchor = element("a", "", shown.slice(0, 160));
        anchor.href = `#${place.closest("section").id}`;
        anchor.addEventListener("click", (event) => {
          event.preventDefault();
          list.replaceChildren();
          reveal(place);
        });
        item.append(anchor);
        list.append(item);
      }
      if (!found.length) list.append(element("li", "none", "Nothing on this page has these words."));
    };
    box.addEventListener("input", show);
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        const first = list.querySelector("a");
        if (first) first.click();
      } else if (event.key === "Escape") {
        box.value = "";
        show();
        box.blur();
      }
    });
    document.addEventListener("keydown", (event) => {
      const typed = event.target.closest && event.target.closest("input, textarea");
      if (event.key === "/" && !typed && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        box.focus();
      }
    });
    document.addEventListener("click", (event) => {
      if (!event.target.closest(".search")) list.replaceChildren();
    });
    const asked = view.read().values.get("find");
    if (asked) {
      box.value = asked;
      show();
    }
  }

  // Links keep what is picked: only the place in the address changes.
  function links() {
    document.addEventListener("click", (event) => {
      const anchor = event.target.closest('a[href^="#"]');
      if (!anchor || event.defaultPrevented || event.ctrlKey || event.metaKey) return;
      const target = document.getElementById(anchor.getAttribute("href").slice(1));
      if (!target) return;
      event.preventDefault();
      const pairs = location.hash.slice(1).split("&").slice(1);
      history.pushState(null, "", `#${[target.id, ...pairs].join("&")}`);
      target.scrollIntoView();
      target.focus({ preventScroll: true });
      if (target.dataset.go !== undefined) go(target);
    });
    const { place } = view.read();
    const target = place && document.getElementById(place);
    if (target) target.scrollIntoView();
  }

  function navigation() {
    const anchors = document.querySelectorAll("nav a");
    const sections = [...document.querySelectorAll("main > section")];
    const mark = () => {
      const passed = sections.filter((each) => each.getBoundingClientRect().top < 120);
      const current = passed.length ? passed[passed.length - 1] : sections[0];
      for (const anchor of anchors) {
        const isOn = anchor.getAttribute("href") === `#${current.id}`;
        anchor.classList.toggle("on", isOn);
        if (isOn) anchor.setAttribute("aria-current", "true");
        else anchor.removeAttribute("aria-current");
      }
    };
    addEventListener("scroll", mark, { passive: true }); // once a frame at most
    mark();
  }

  theme();
  tables();
  folding();
  tabs();
  picking();
  search();
  links();
  navigation();
})();
