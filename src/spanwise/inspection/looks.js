"use strict";
// The page as it looks, with its chunks: painted by the browser where they stand, and named in a gutter beside them.
const looksOf = (() => {
  const COLOURS = [0, 1, 2, 3, 4, 5];
  const BAND = 64; // pixels; boxes are looked up by the bands that they reach into
  const LABEL = 17; // pixels that a label takes
  const HIGHEST = 1_000_000;
  const LANES = 4;
  const SMALLEST = 0.4; // of its size

  function styleOf(glass) {
    const values = getComputedStyle(glass);
    const colour = (name) => values.getPropertyValue(`--${name}`);
    const ground = (name, colour, share) =>
      `::highlight(${name}) { background-color: color-mix(in srgb, ${colour} ${share}%, transparent); }`;
    return [
      ...COLOURS.map((each) => ground(`k${each}`, colour(`edge${each}`), 17)),
      ...COLOURS.map((each) => ground(`current${each}`, colour(`edge${each}`), 22)),
      ground("currentnone", colour("soft"), 25),
      ground("overlap-prev", "#ffc800", 45),
      ground("overlap-next", "#ffc800", 45),
      ground("context", "#3d7fe6", 35),
      "::highlight(overlap) { text-decoration: underline dotted 1.5px; }",
      "::highlight(repeated) { text-decoration: underline double 1px; }",
      "::highlight(left-out) { color: #a5a5a5; }",
      "[data-spanwise-left-out] { opacity: .3 !important; filter: grayscale(1) !important; }",
      "html, body { height: auto !important; overflow: visible !important; }",
    ].join("\n");
  }

  // ------------------------------------------------------------------------------------------------------- the painting

  function painterOf(frame, chunks, rangesOf) {
    const view = frame.contentWindow;
    const registry = view.CSS?.highlights;
    const set = (name, ranges, priority) => {
      if (!registry || !view.Highlight) return; // the gutter shows the chunks all the same
      const highlight = new view.Highlight(...ranges.map((range) => new view.StaticRange(range)));
      highlight.priority = priority;
      registry.set(name, highlight);
    };
    const piecesOf = (chunk, wanted) =>
      chunk.pieces.flatMap(([, , role], at) => (wanted(role) ? rangesOf(...chunk.units[at]) : []));
    const cores = chunks.map((chunk) => piecesOf(chunk, (role) => role === "core"));

    function all() {
      for (const colour of COLOURS) {
        set(`k${colour}`, cores.filter((_, index) => chunks[index].colour === colour).flat(), 0);
      }
      set("overlap", chunks.flatMap((chunk) => piecesOf(chunk, (role) => role.startsWith("overlap"))), 1);
      set("repeated", chunks.flatMap((chunk) => piecesOf(chunk, (role) => role === "context")), 1);
    }

    let lit = [];
    function one(index) {
      for (const name of lit) registry?.delete(name);
      lit = [];
      if (index === null) return;
      const chunk = chunks[index];
      const found = [[`current${chunk.colour ?? "none"}`, cores[index], 2]];
      for (const role of ["overlap_prev", "overlap_next", "context"]) {
        found.push([role.replace("_", "-"), piecesOf(chunk, (each) => each === role), 3]);
      }
      for (const [name, ranges, priority] of found) {
        if (!ranges.length) continue;
        set(name, ranges, priority);
        lit.push(name);
      }
    }

    return { all, one, set, cores };
  }

  // ----------------------------------------------------------------------------------------------- where everything stands

  function boxesOf(page, cores, width) {
    const range = page.createRange();
    const bands = new Map();
    const reaches = cores.map((ranges, index) => {
      let top = Infinity;
      let bottom = -Infinity;
      for (const { startContainer, startOffset, endContainer, endOffset } of ranges) {
        range.setStart(startContainer, startOffset);
        range.setEnd(endContainer, endOffset);
        for (const box of range.getClientRects()) {
          if (box.width < 1 || box.height < 1 || box.right < 1 || box.left > width || box.bottom < 1) continue;
          top = Math.min(top, box.top);
          bottom = Math.max(bottom, box.bottom);
          for (let band = Math.floor(box.top / BAND); band <= box.bottom / BAND; band += 1) {
            if (!bands.has(band)) bands.set(band, []);
            bands.get(band).push([index, box]);
          }
        }
      }
      return top < bottom ? { top: Math.max(top, 0), bottom } : null;
    });
    return { bands, reaches };
  }

  function lanesOf(reaches) {
    const ends = Array(LANES).fill(-Infinity);
    const lanes = new Map();
    const order = reaches.map((_, index) => index).filter((index) => reaches[index]);
    order.sort((one, other) => reaches[one].top - reaches[other].top || one - other);
    for (const index of order) {
      const free = ends.findIndex((end) => end <= reaches[index].top + 1);
      const lane = free < 0 ? LANES - 1 : free;
      ends[lane] = Math.max(ends[lane], reaches[index].bottom);
      lanes.set(index, lane);
    }
    return { lanes, order };
  }

  function markOf(chunk) {
    const mark = document.createElement("div");
    mark.className = `mark k${chunk.colour ?? "none"}`;
    mark.dataset.chunk = chunk.index;
    const label = document.createElement("a");
    label.className = "label";
    label.href = `#chunk-${chunk.index}`;
    label.dataset.label = `#${chunk.index}`;
    label.setAttribute("aria-label", `Chunk ${chunk.index}, ${chunk.tokens} tokens`);
    label.title = [`${chunk.tokens} tokens`, ...chunk.flags].join(", ");
    mark.append(label, document.createElement("i"));
    return mark;
  }

  // -------------------------------------------------------------------------------------------------------- all together

  function shownIn(section, known, chunks, text) {
    const frame = section.querySelector("iframe");
    const glass = section.querySelector(".glass");
    const gutter = section.querySelector(".gutter");
    const elements = built(frame, known, styleOf(glass));
    const page = frame.contentDocument;
    const { rangesOf, leftOut, loose } = alignmentOf(elements, known, text);
    for (const element of leftOut) element.setAttribute("data-spanwise-left-out", "");
    const painter = painterOf(frame, chunks, rangesOf);
    painter.all();
    painter.set("left-out", loose.flatMap(wordsIn), 0);
    const marks = chunks.map(markOf);
    gutter.append(...marks);
    let bands = new Map();
    let scale = 1;

    function measure() {
      const room = glass.clientWidth;
      if (!room) return; // not shown now
      const reached = scrollY; // it is lost while the frame is low
      Object.assign(frame.style, { width: `${room}px`, height: "900px" });
      const root = page.documentElement;
      const width = Math.max(room, Math.min(root.scrollWidth, room / SMALLEST));
      scale = room / width; // a page that needs more room is shown smaller
      frame.style.width = `${width}px`;
      for (let pass = 0; pass < 2; pass += 1) { // a page may grow with its window
        frame.style.height = `${Math.min(Math.max(root.scrollHeight, 120), HIGHEST)}px`;
      }
      frame.style.transform = scale < 1 ? `scale(${scale})` : "";
      glass.style.height = `${frame.offsetHeight * scale + 2}px`;
      scrollTo({ top: reached, behavior: "instant" });
      const found = boxesOf(page, painter.cores, width);
      bands = found.bands;
      stand(found.reaches.map((reach) => reach && { top: reach.top * scale, bottom: reach.bottom * scale }));
    }

    function stand(reaches) {
      const { lanes, order } = lanesOf(reaches);
      let reached = -Infinity;
      let last = 0;
      const tops = new Map();
      for (const index of order) {
        reached = Math.max(reaches[index].top, reached + LABEL);
        tops.set(index, reached);
      }
      marks.forEach((mark, index) => {
        const reach = reaches[index];
        mark.classList.toggle("unseen", !reach);
        const { top, bottom } = reach ?? { top: last, bottom: last + LABEL };
        last = top;
        mark.style.cssText = `top: ${top}px; height: ${bottom - top}px; --lane: ${lanes.get(index) ?? 0};`;
        mark.firstChild.style.top = `${(tops.get(index) ?? top) - top}px`;
      });
      const unseen = reaches.filter((reach) => !reach).length;
      const note = section.querySelector(".note");
      note.hidden = unseen === 0;
      note.textContent = `${unseen === 1 ? "1 chunk is" : `${unseen} chunks are`} not to be seen on the page ` +
        "without its scripts and style sheets: see the text.";
    }

    function at(clientX, clientY) {
      const { left, top } = frame.getBoundingClientRect();
      const [x, y] = [(clientX - left) / scale, (clientY - top) / scale];
      let best = null;
      for (const [index, box] of bands.get(Math.floor(y / BAND)) ?? []) {
        if (x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
        const size = box.width * box.height;
        if (chunks[index].colour !== null && (!best || size < best.size)) best = { index, size };
      }
      return best?.index ?? null;
    }

    let waiting = 0;
    const later = () => {
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(measure);
    };
    let widest = 0;
    new ResizeObserver(() => {
      if (glass.clientWidth !== widest) later();
      widest = glass.clientWidth;
    }).observe(glass);
    for (const image of page.images) image.addEventListener("load", later);
    return { marks, at, measure, light: painter.one, glass };
  }

  function wordsIn(element) {
    return [...element.childNodes]
      .filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
      .map((node) => ({ startContainer: node, startOffset: 0, endContainer: node, endOffset: node.data.length }));
  }

  // Show the page once its frame is there.
  return function looksOf(section, chunks, text, ready) {
    const frame = section.querySelector("iframe");
    const known = JSON.parse(document.getElementById("looks").textContent);
    const begin = () => ready(shownIn(section, known, chunks, text));
    const there = frame.contentDocument;
    if (there?.readyState === "complete" && there.URL === "about:srcdoc") begin();
    else frame.addEventListener("load", begin, { once: true });
  };
})();
