"use strict";
// A page in a frame: built element by element of what was found harmless, not parsed. The frame's sandbox and security
// policy would let nothing act or load in any case.
const built = (() => {
  const WORLDS = ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML"];
  const DEEPEST = 400; // what is nested more deeply stands side by side: a browser's own stack has an end
  const PLAIN = `
    body { font: 16px/1.55 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; margin: 1.2rem 1.4rem; }
    table:not([border="0"], [role]) { border-collapse: collapse; }
    table:not([border="0"], [role]) > * > tr > :is(td, th) { border: 1px solid #c8c8c8; padding: .3rem .6rem; }
    pre { background: #f4f4f2; padding: .7rem .9rem; overflow-x: auto; } img { max-width: 100%; }
    :any-link { color: #0b57b0; }
  `; // for a page whose own style is not here

  function dress(element, attributes) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "style") element.style.cssText = value;
      else if (name === "xlink:href") element.setAttribute("href", value);
      else element.setAttribute(name, value);
    }
  }

  function elementsIn(page, steps) {
    const elements = [];
    const open = [];
    const add = (node) => open[Math.min(open.length, DEEPEST) - 1]?.append(node);
    for (const step of steps) {
      if (typeof step === "string") {
        add(step);
      } else if (typeof step === "number") {
        open.length -= step;
      } else {
        const [name, attributes, world] = step;
        const element = page.createElementNS(WORLDS[world], name);
        dress(element, attributes);
        if (name === "details") element.open = true; // chunks may stand in it
        add(element);
        open.push(element);
        elements.push(element);
      }
    }
    return elements;
  }

  function sheetOf(view, [css, media]) {
    const sheet = new view.CSSStyleSheet({ media });
    sheet.replaceSync(css);
    return sheet;
  }

  // Build a page in a frame, with a style sheet of our own after its own ones, and give its elements.
  return function built(frame, known, css) {
    const page = frame.contentDocument;
    const elements = elementsIn(page, known.steps);
    page.replaceChild(elements[0], page.documentElement);
    const sheets = [...(known.bare ? [[PLAIN, ""]] : []), ...known.sheets, [css, ""]];
    page.adoptedStyleSheets = sheets.map((sheet) => sheetOf(frame.contentWindow, sheet));
    return elements;
  };
})();
