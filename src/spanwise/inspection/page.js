"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const known = JSON.parse(document.getElementById("data").textContent);
  const chunks = known.chunks;
  const details = document.getElementById("details");
  const start = [...details.childNodes];
  const texts = [...document.querySelectorAll(".text")];
  const painted = group("[data-chunk]", (element) => [element.dataset.chunk]);
  const boxes = group("[data-chunks]", (element) => element.dataset.chunks.split(" "));
  const bars = [...document.querySelectorAll(".plot a")];
  const children = new Map();
  for (const chunk of chunks) {
    if (chunk.parent !== null) children.set(chunk.parent, [...(children.get(chunk.parent) ?? []), chunk.index]);
  }
  let held = null; // the chunk that stays shown when the pointer leaves
  let shown = null;
  let looks = null; // the page as it looks, once it is there

  function group(selector, names) {
    const found = new Map();
    for (const element of document.querySelectorAll(selector)) {
      for (const name of names(element)) {
        const index = Number(name);
        if (!found.has(index)) found.set(index, []);
        found.get(index).push(element);
      }
    }
    return found;
  }

  // ---------------------------------------------------------------- positions in the document's text, in UTF-16 units

  const sheets = [];
  let length = 0;
  for (const element of texts) {
    const size = element.textContent.length;
    sheets.push({ element, start: length, end: length + size, nodes: null });
    length += size;
  }

  function nodesOf(sheet) {
    if (sheet.nodes) return sheet.nodes;
    sheet.nodes = [];
    const walker = document.createTreeWalker(sheet.element, NodeFilter.SHOW_TEXT);
    let reached = sheet.start;
    while (walker.nextNode()) {
      sheet.nodes.push({ node: walker.currentNode, start: reached });
      reached += walker.currentNode.data.length;
    }
    return sheet.nodes;
  }

  function nodeAt(sheet, position) {
    const nodes = nodesOf(sheet);
    let low = 0;
    let high = nodes.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (nodes[middle].start <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function place(sheet, position) {
    const { node, start: begun } = nodesOf(sheet)[nodeAt(sheet, position)];
    return [node, position - begun];
  }

  function rangesOf(from, to) {
    const ranges = [];
    for (const sheet of sheets) {
      const low = Math.max(from, sheet.start);
      const high = Math.min(to, sheet.end);
      if (low >= high) continue;
      const range = new StaticRange({
        ...named(place(sheet, low), "start"),
        ...named(place(sheet, high), "end"),
      });
      ranges.push(range);
    }
    return ranges;
  }

  function named([container, offset], edge) {
    return { [`${edge}Container`]: container, [`${edge}Offset`]: offset };
  }

  function textBetween(from, to) {
    let text = "";
    for (const sheet of sheets) {
      if (from >= sheet.end || to <= sheet.start) continue;
      const nodes = nodesOf(sheet);
      for (let at = nodeAt(sheet, Math.max(from, sheet.start)); at < nodes.length; at += 1) {
        const { node, start: begun } = nodes[at];
        if (begun >= to) break;
        text += node.data.slice(Math.max(from - begun, 0), to - begun);
      }
    }
    return text;
  }

  // ------------------------------------------------------------------------------------------------ the details of one

  function made(name, className, ...content) {
    const element = document.createElement(name);
    if (className) element.className = className;
    element.append(...content.filter((item) => item !== null));
    return element;
  }

  const grouped = (number) => number.toLocaleString("en");
  const span = ([low, high], unit) => (low === high ? `${unit} ${low}` : `${unit}s ${low} to ${high}`);

  function head(chunk) {
    const limit = chunk.colour === null ? known.parent_limit : known.limit;
    const of = limit ? ` of ${grouped(limit)}` : "";
    const count = `${grouped(chunk.tokens)}${of} tokens`;
    const meter = made("meter", "");
    Object.assign(meter, { min: 0, max: Math.max(limit ?? chunk.tokens, 1), value: chunk.tokens });
    meter.setAttribute("aria-label", count);
    const flags = chunk.flags.map((flag) => made("span", "flag", flag));
    return made(
      "div",
      `head k${chunk.colour ?? "none"}`,
      made("h2", "", `#${chunk.index} `, made("span", "type", chunk.type), ...flags),
      steps(chunk),
      made("p", "size", count),
      meter,
    );
  }

  function steps(chunk) {
    const button = (words, label, act) => {
      const element = made("button", "", words);
      Object.assign(element, { type: "button", onclick: act });
      element.setAttribute("aria-label", label);
      return element;
    };
    const moves = made(
      "nav",
      "",
      button("↑", "Previous chunk (k)", () => go(chunk.index - 1)),
      button("↓", "Next chunk (j)", () => go(chunk.index + 1)),
      button("×", "Close (Escape)", release),
    );
    moves.setAttribute("aria-label", "Chunks");
    return moves;
  }

  function facts(chunk) {
    const rows = [
      ["headings", known.paths[chunk.path].join(" › ")],
      ["chunk_id", chunk.chunk_id],
      ["content_id", chunk.content_id],
      ["place", [
        `characters ${chunk.range[0]} to ${chunk.range[1]}`,
        chunk.pages[0] === null ? null : span(chunk.pages, "page"),
        span(chunk.blocks, "block"),
      ].filter(Boolean).join(", ")],
      ["source", chunk.source],
      ["section_type", chunk.section],
      ["block_id", chunk.block_id],
      ["parent", chunk.parent === null ? null : link(chunk.parent)],
      ["children", children.has(chunk.index) && made("span", "", ...children.get(chunk.index).map(link))],
    ];
    const list = made("dl", "facts");
    for (const [name, value] of rows) {
      const kind = name.endsWith("_id") ? "id" : "";
      if (value) list.append(made("dt", "", name), made("dd", kind, made("bdi", "", value)));
    }
    return list;
  }

  function link(index) {
    const element = made("a", "", `#${index}`);
    element.href = `#chunk-${index}`;
    return element;
  }

  function embedded(chunk) {
    const words = made("div", `embedding k${chunk.colour ?? "none"}`);
    words.dir = "auto";
    const add = (kind, text) => text && words.append(kind ? made("span", kind, text) : text);
    add("template", known.templates[chunk.before]);
    chunk.pieces.forEach(([, , role, joiner], at) => {
      add("", chunk.plain ? chunk.plain[at][0] : at ? joiner : "");
      const kind = role.startsWith("overlap") ? `overlap ${role}` : role;
      add(`piece ${kind}`, chunk.plain ? chunk.plain[at][1] : textBetween(...chunk.units[at]));
    });
    return words;
  }

  function pieces(chunk) {
    const visible = (joiner) => JSON.stringify(joiner);
    const rows = chunk.pieces.map(([from, to, role, joiner], at) =>
      made(
        "tr",
        "",
        made("td", "", made("span", `sample ${role.split("_")[0]} k${chunk.colour ?? "none"}`, role)),
        made("td", "number", `${from}–${to}`),
        made("td", "", at ? visible(joiner) : ""),
      ),
    );
    const names = ["role", "characters", "joined by"].map((name) => made("th", "", name));
    return made("table", "pieces", made("thead", "", made("tr", "", ...names)), made("tbody", "", ...rows));
  }

  // --------------------------------------------------------------------------------------------- showing and moving on

  function show(index) {
    if (shown === index) return;
    if (shown !== null) light(shown, false);
    shown = index;
    if (index === null) {
      details.replaceChildren(...start);
      details.classList.remove("open");
    } else {
      light(index, true);
      const chunk = chunks[index];
      const title = (words) => made("h3", "", words);
      details.replaceChildren(
        head(chunk), facts(chunk), title("Text for the embedder"), embedded(chunk), title("Pieces"), pieces(chunk),
      );
      details.scrollTop = 0;
      details.classList.add("open");
    }
    highlight(index);
  }

  function light(index, on) {
    for (const each of [index, ...(children.get(index) ?? [])]) {
      for (const element of [...(painted.get(each) ?? []), ...(boxes.get(each) ?? []), bars[each]]) {
        element?.classList.toggle("current", on);
      }
    }
  }

  function highlight(index) {
    looks?.light(index);
    if (!CSS.highlights || typeof Highlight === "undefined") return; // what is repeated stays underlined
    const found = { overlap_prev: [], overlap_next: [], context: [] };
    const chunk = index === null ? { pieces: [], units: [] } : chunks[index];
    chunk.pieces.forEach(([, , role], at) => found[role]?.push(...rangesOf(...chunk.units[at])));
    for (const [role, ranges] of Object.entries(found)) {
      CSS.highlights.set(role.replace("_", "-"), new Highlight(...ranges));
    }
  }

  function hold(index) {
    held = index;
    show(index);
  }

  const looking = () => document.body.classList.contains("looking");
  const standing = (index) => (looking() ? looks.marks[index] : painted.get(index)?.[0]);

  function release() {
    const label = standing(held)?.querySelector(".label");
    hold(null);
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    label?.blur();
  }

  function go(index) {
    const element = standing(Math.min(Math.max(index, 0), chunks.length - 1));
    if (!element) return;
    element.querySelector(".label").focus({ preventScroll: true });
    const { top, bottom } = element.getBoundingClientRect();
    const room = details.classList.contains("open") && narrow.matches ? innerHeight * 0.45 : innerHeight;
    if (top < 40 || bottom > room) element.scrollIntoView({ block: "start" });
  }

  const narrow = matchMedia("(max-width: 62rem)");
  const indexOf = (element) => {
    const owner = element?.closest?.("[data-chunk], [data-chunks]");
    return owner ? Number(owner.dataset.chunk ?? owner.dataset.chunks.split(" ")[0]) : null;
  };

  function follow() {
    const index = /^#chunk-(\d+)$/.exec(location.hash)?.[1];
    if (index !== undefined && chunks[index]) {
      hold(Number(index));
      go(Number(index));
    }
  }

  addEventListener("hashchange", follow);
  document.addEventListener("focusin", ({ target }) => {
    if (target.matches(".label")) hold(indexOf(target));
  });
  let pointer = ""; // where it was last; what scrolls past under a resting pointer isn't pointed at
  document.addEventListener("pointermove", ({ clientX, clientY }) => (pointer = `${clientX} ${clientY}`));
  document.addEventListener("pointerover", ({ target, pointerType, clientX, clientY }) => {
    if (pointerType !== "mouse" || pointer === `${clientX} ${clientY}` || details.contains(target) || target === looks?.glass) return;
    const bar = bars.indexOf(target.closest(".plot a"));
    show(bar < 0 ? (indexOf(target) ?? held) : bar);
  });
  document.addEventListener("click", ({ target }) => {
    const index = indexOf(target);
    if (index === null || !getSelection().isCollapsed) return;
    if (target.closest(".label")) return; // the link does it
    if (target.closest("svg")) go(index);
    else standing(index).querySelector(".label").focus({ preventScroll: true });
  });

  const keys = { j: 1, k: -1, ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") return release();
    const onChunk = document.activeElement?.matches(".label");
    const step = keys[event.key];
    if (step === undefined || (event.key.startsWith("Arrow") && !onChunk)) return;
    event.preventDefault();
    go(held === null ? (step > 0 ? 0 : chunks.length - 1) : held + step);
  });

  document.querySelector(".plot svg")?.addEventListener("click", (event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    event.preventDefault();
    go(Math.floor(((event.clientX - left) / width) * Math.max(chunks.length, 12)));
  });
  addEventListener("beforeprint", () => {
    for (const image of document.images) image.loading = "eager";
  });
  follow();

  // ------------------------------------------------------------------------------------------------ the page as it looks

  function turn(view) {
    document.body.classList.toggle("looking", view === "looks");
    document.querySelector(".looks").hidden = view !== "looks";
    for (const button of document.querySelectorAll("[data-view]")) {
      button.setAttribute("aria-pressed", button.dataset.view === view);
    }
    if (view === "looks") looks.measure();
    if (held !== null) go(held);
  }

  function begin(found) {
    looks = found;
    looks.marks.forEach((mark, index) => painted.set(index, [...(painted.get(index) ?? []), mark]));
    looks.glass.addEventListener("pointermove", ({ pointerType, clientX, clientY }) => {
      if (pointerType === "mouse") show(looks.at(clientX, clientY) ?? held);
    });
    looks.glass.addEventListener("pointerleave", () => show(held));
    looks.glass.addEventListener("click", ({ clientX, clientY }) => {
      const index = looks.at(clientX, clientY);
      if (index !== null) standing(index).querySelector(".label").focus({ preventScroll: true });
    });
    const views = document.querySelector(".views");
    views.hidden = false;
    views.addEventListener("click", ({ target }) => target.dataset.view && turn(target.dataset.view));
    turn("looks");
    if (held !== null) light(held, true);
  }

  const section = document.querySelector(".looks");
  if (section) looksOf(section, chunks, texts.map((element) => element.textContent).join(""), begin);
})();
