// Each picture by itself: as SVG, which needs no style sheet any more, or as PNG.
"use strict";
(function () {
  const LEAST_WIDTH = 400;
  const SHARPNESS = 2; // dots of a PNG for each pixel
  const INLINED = [
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
    "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "text-anchor",
  ];

  // A copy that looks the same anywhere: styles in its elements, hatches in it, paper below.
  function alone(svg) {
    const copy = svg.cloneNode(true);
    const [, , width, height] = svg.getAttribute("viewBox").split(/\s+/).map(Number);
    const all = [svg, ...svg.querySelectorAll("*")];
    [copy, ...copy.querySelectorAll("*")].forEach((element, k) => {
      const style = getComputedStyle(all[k]);
      for (const name of INLINED) {
        const value = style.getPropertyValue(name).replace(/url\("?[^#"]*(#[^")]+)"?\)/, "url($1)");
        element.setAttribute(name, value);
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
    const paper = document.createElementNS(svg.namespaceURI, "rect");
    paper.setAttribute("width", String(width));
    paper.setAttribute("height", String(height));
    paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    copy.prepend(paper);
    copy.setAttribute("width", String(width));
    copy.setAttribute("height", String(height));
    return { text: new XMLSerializer().serializeToString(copy), width, height };
  }

  function save(blob, name) {
    const anchor = document.createElement("a");
    anchor.href = URL.createObjectURL(blob);
    anchor.download = name;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
  }

  function saveSvg(svg, name) {
    save(new Blob([alone(svg).text], { type: "image/svg+xml" }), `${name}.svg`);
  }

  function savePng(svg, name) {
    const { text, width, height } = alone(svg);
    const image = new Image();
    image.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      canvas.width = width * SHARPNESS;
      canvas.height = height * SHARPNESS;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
    });
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  function button(text, label, action) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", action);
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
    const tools = document.createElement("div");
    tools.className = "take";
    tools.append(
      button("SVG", "Save this picture as SVG", () => saveSvg(svg, name)),
      button("PNG", "Save this picture as PNG", () => savePng(svg, name)),
    );
    svg.before(tools);
  }
  const lanes = document.getElementById("tl-lanes");
  const tools = document.querySelector(".tl-tools");
  if (lanes && tools) {
    const asPng = () => lanes.toBlob((blob) => save(blob, `${run}-timeline.png`), "image/png");
    const still = document.querySelector("#tl-static svg");
    if (still) tools.append(button("SVG", "Save the first view of the timeline as SVG", () => saveSvg(still, `${run}-timeline`)));
    tools.append(button("PNG", "Save what the timeline shows as PNG", asPng));
  }
})();
