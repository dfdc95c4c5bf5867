// Each picture by itself: as SVG, which needs no style sheet any more, or as PNG.
"use strict";
(function () {
  const page = window.burstline;
  const LEAST_WIDTH = 400;
  const SHARPNESS = 2; // dots of a PNG for each pixel
  const INLINED = [
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
    "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor",
  ];

  const MARGIN = 8;

  function made(svg, name, attributes, text) {
    const element = document.createElementNS(svg.namespaceURI, name);
    for (const key of Object.keys(attributes)) element.setAttribute(key, attributes[key]);
    if (text) element.textContent = text;
    return element;
  }

  const paperColour = () => getComputedStyle(document.body).backgroundColor;
  const fillOf = (element) => getComputedStyle(element).fill.replace(/url\("?[^#"]*(#[^")]+)"?\)/, "url($1)");

  // The kinds of time that a picture has, as legends of the page name them, below it.
  function legendOf(svg, width, height) {
    const rows = [];
    const seen = new Set();
    let x = 0;
    let y = height + 14;
    for (const item of document.querySelectorAll(".legend [data-kind] > span:last-child")) {
      const { kind } = item.parentNode.dataset;
      const box = svg.querySelector(`.k-${CSS.escape(kind)}`);
      if (!box || seen.has(kind)) continue;
      seen.add(kind);
      const room = 30 + 6.6 * item.textContent.length; // a letter is about as wide
      if (x + room > width) [x, y] = [0, y + 20];
      const place = { x, y, width: 12, height: 12 };
      rows.push(made(svg, "rect", { ...place, fill: fillOf(box) }));
      const hatch = box.nextElementSibling;
      if (hatch && hatch.matches("[class^=h-]")) rows.push(made(svg, "rect", { ...place, fill: fillOf(hatch) }));
      const look = { x: x + 18, y: y + 10, fill: getComputedStyle(item).color, "font-size": 11, "font-family": "sans-serif" };
      rows.push(made(svg, "text", look, item.textContent));
      x += room;
    }
    return { rows, below: rows.length ? y + 14 : height };
  }

  // A copy that looks the same anywhere: styles in its elements, hatches in it, paper below.
  function alone(svg) {
    const copy = svg.cloneNode(true);
    const [, , wide, high] = svg.getAttribute("viewBox").split(/\s+/).map(Number);
    const { rows, below } = legendOf(svg, wide, high);
    const [width, height] = [wide + 2 * MARGIN, below + 2 * MARGIN];
    const all = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((element, k) => {
      const style = getComputedStyle(all[k]);
      for (const name of INLINED) {
        element.setAttribute(name, name === "fill" ? fillOf(all[k]) : style.getPropertyValue(name));
      }
      for (const name of ["class", "tabindex"]) element.removeAttribute(name);
    });
    for (const pattern of document.querySelectorAll(".defs pattern")) {
      const hatch = pattern.cloneNode(true);
      const { stroke, strokeWidth } = getComputedStyle(pattern.querySelector("line"));
      const line = hatch.querySelector("line");
      line.removeAttribute("class");
      line.setAttribute("stroke", stroke);
      line.setAttribute("stroke-width", strokeWidth);
      copy.prepend(hatch);
    }
    copy.prepend(made(svg, "rect", { x: -MARGIN, y: -MARGIN, width, height, fill: paperColour() }));
    copy.append(...rows);
    copy.setAttribute("viewBox", `${-MARGIN} ${-MARGIN} ${width} ${height}`);
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  }

  function save(blob, name) {
    const anchor = page.element("a");
    anchor.href = URL.createObjectURL(blob);
    anchor.download = name;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
  }

  function saveSvg(svg, name) {
    save(new Blob([alone(svg).text], { type: "image/svg+xml" }), `${name}.svg`);
  }

  // On paper: a canvas is transparent where nothing is drawn.
  function saveDrawn(image, [width, height], name) {
    const canvas = page.element("canvas");
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.fillStyle = paperColour();
    context.fillRect(0, 0, width, height);
    context.drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
  }

  function savePng(svg, name) {
    const { text, width, height } = alone(svg);
    const image = new Image();
    const size = [width * SHARPNESS, height * SHARPNESS];
    image.addEventListener("load", () => saveDrawn(image, size, name));
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  function button(text, label, action) {
    const made = page.button(text, action);
    made.setAttribute("aria-label", label);
    return made;
  }

  const run = (document.title.split(" · ")[0] || "run").replace(/[^\w.-]+/g, "_").slice(0, 80);
  const counts = new Map();
  for (const svg of document.querySelectorAll("main svg.chart")) {
    if (Number(svg.getAttribute("viewBox").split(/\s+/)[2]) < LEAST_WIDTH || svg.closest("#tl-static")) continue;
    const section = svg.closest("section").id;
    counts.set(section, (counts.get(section) || 0) + 1);
    const number = counts.get(section);
    const name = `${run}-${section}${number > 1 ? `-${number}` : ""}`;
    const tools = page.element("div", "take");
    tools.append(
      button("SVG", "Save this picture as SVG", () => saveSvg(svg, name)),
      button("PNG", "Save this picture as PNG", () => savePng(svg, name)),
    );
    svg.before(tools);
  }
  const lanes = document.getElementById("tl-lanes");
  const tools = document.querySelector(".tl-tools");
  if (lanes && tools) {
    const asPng = () => saveDrawn(lanes, [lanes.width, lanes.height], `${run}-timeline`);
    const still = document.querySelector("#tl-static svg");
    if (still) tools.append(button("SVG", "Save the first view of the timeline as SVG", () => saveSvg(still, `${run}-timeline`)));
    tools.append(button("PNG", "Save what the timeline shows as PNG", asPng));
  }
})();
