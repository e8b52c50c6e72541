"use strict";
// Where the document's text stands in a page: all positions in the text are in UTF-16 units, those in the page count
// letters, that is, whatever is not white space. Both sides are compared letter by letter, inside the elements that the
// units name.
const alignmentOf = (() => {
  const BLANK = /[\s\u00ad\u200b\u2060]+/g; // also what the reader drops because nobody sees it
  const FAR = 4000; // letters that may stand between two neighbours

  const lettersOf = (text) => text.replace(BLANK, "");

  // --------------------------------------------------------------------------------------------- the letters of a page

  function textOf(root, leftOut) {
    const nodes = []; // text nodes with letters: where these begin, and after how many others that don't count
    const spans = new Map(); // element: its letters
    const words = [];
    let length = 0;
    let passed = 0;
    const enter = (node) => {
      if (node.nodeType === Node.TEXT_NODE) {
        const letters = lettersOf(node.data);
        if (!letters) return false;
        nodes.push({ node, start: length, group: passed });
        words.push(letters);
        length += letters.length;
        return false;
      }
      if (node.nodeType !== Node.ELEMENT_NODE) return false;
      if (leftOut.has(node)) {
        passed += 1;
        return false;
      }
      spans.set(node, [length, length]);
      return true;
    };
    let node = root;
    while (node) {
      if (enter(node) && node.firstChild) {
        node = node.firstChild;
        continue;
      }
      while (node !== root && !node.nextSibling) {
        node = node.parentNode;
        spans.get(node)[1] = length;
      }
      node = node === root ? null : node.nextSibling;
    }
    spans.set(root, [0, length]);
    return { letters: words.join(""), nodes, spans };
  }

  // ---------------------------------------------------------------------------------------------- one beside the other

  function matched(page, units, text) {
    const pieces = []; // [start in the text, end, first letter in the page]
    let reached = 0;
    const search = (letters, from, to) => {
      const found = page.letters.slice(from, to).indexOf(letters);
      return found < 0 ? -1 : from + found;
    };
    const near = (letters, from, to, far = 40) => // the shorter, the likelier it is to stand elsewhere as well
      search(letters, from, Math.min(to, from + Math.min(far * letters.length + far, FAR) + letters.length));
    const take = (start, end, at, letters) => {
      pieces.push([start, end, at]);
      reached = at + letters.length;
    };

    function takeWords(start, end, to) {
      for (const word of text.slice(start, end).matchAll(/\S+/g)) {
        const letters = lettersOf(word[0]);
        const at = letters ? near(letters, reached, to, 8) : -1;
        if (at >= 0) take(start + word.index, start + word.index + word[0].length, at, letters);
        else takeSigns(start + word.index, word[0], to);
      }
    }

    function takeSigns(start, word, to) { // a reader may have put quotation marks around it
      for (const { 0: sign, index } of word.matchAll(/[\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]/gu)) {
        const at = /^[\p{L}\p{N}]/u.test(sign) ? near(sign, reached, to, 2) : search(sign, reached, reached + sign.length);
        if (at >= 0) take(start + index, start + index + sign.length, at, sign);
      }
    }

    function takePiece(start, end, to) {
      const letters = lettersOf(text.slice(start, end));
      for (const limit of [to, page.letters.length]) { // what belongs to an element may stand after it, as in `dl`
        const at = near(letters, reached, limit);
        if (at >= 0) return take(start, end, at, letters);
      }
      takeWords(start, end, to);
    }

    for (const { element, ranges } of units) {
      const [from, to] = page.spans.get(element) ?? [0, page.letters.length];
      const whole = ranges.map(([start, end]) => lettersOf(text.slice(start, end)));
      const letters = whole.join("");
      if (!letters) continue;
      const begin = reached >= from && reached < to ? reached : from;
      let at = element ? search(letters, begin, to) : near(letters, reached, to);
      if (at < 0 && begin > from) at = search(letters, from, to);
      if (at >= 0) {
        ranges.forEach(([start, end], index) => {
          take(start, end, at, whole[index]);
          at += whole[index].length;
        });
      } else {
        if (element) reached = begin;
        for (const [start, end] of ranges) takePiece(start, end, Math.max(to, reached));
      }
    }
    return pieces.sort((one, other) => one[0] - other[0]);
  }

  // ------------------------------------------------------------------------------------ from the text to the page's nodes

  function pointsOf(page) {
    const { nodes } = page;
    const indexAt = (letter) => {
      let low = 0;
      let high = nodes.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (nodes[middle].start <= letter) low = middle;
        else high = middle - 1;
      }
      return low;
    };
    const offsetOf = (index, letter) => {
      const { node, start } = nodes[index];
      let left = letter - start;
      let offset = 0;
      for (const { index: blank, 0: gap } of node.data.matchAll(BLANK)) {
        if (blank - offset > left) break;
        left -= blank - offset;
        offset = blank + gap.length;
      }
      return offset + left;
    };
    const range = (first, from, last, to) => ({
      startContainer: nodes[first].node,
      startOffset: offsetOf(first, from),
      endContainer: nodes[last].node,
      endOffset: offsetOf(last, to - 1) + 1,
    });
    return function* between(from, to) { // what was left out parts a range
      const last = indexAt(to - 1);
      let first = indexAt(from);
      for (let index = first; index <= last; index += 1) {
        if (index < last && nodes[index + 1].group === nodes[first].group) continue;
        const end = index === last ? to : nodes[index + 1].start;
        yield range(first, Math.max(from, nodes[first].start), index, end);
        first = index + 1;
      }
    };
  }

  // Say where ranges of the text stand among the elements that were built; the first of them holds all others.
  function aligned(elements, known, text) {
    let reached = 0;
    const units = known.units.map(([number, steps]) => {
      const edges = steps.map((step) => (reached += step));
      const ranges = [];
      for (let at = 0; at < edges.length; at += 2) ranges.push([edges[at], edges[at + 1]]);
      return { element: elements[number] ?? null, ranges };
    });
    const holding = new Set();
    for (const { element } of units) {
      for (let each = element; each && !holding.has(each); each = each.parentNode) holding.add(each);
    }
    const said = known.leftOut.map((number) => elements[number]);
    const leftOut = new Set(said.filter((element) => !holding.has(element)));
    const page = textOf(elements[0], leftOut);
    const pieces = matched(page, units, text);
    const between = pointsOf(page);

    function rangesOf(from, to) {
      let low = 0;
      let high = pieces.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (pieces[middle][1] <= from) low = middle + 1;
        else high = middle;
      }
      const runs = [];
      for (; low < pieces.length && pieces[low][0] < to; low += 1) {
        const [start, end, first] = pieces[low];
        const before = from > start ? lettersOf(text.slice(start, from)).length : 0;
        const inside = lettersOf(text.slice(Math.max(start, from), Math.min(end, to))).length;
        const run = [first + before, first + before + inside];
        if (!inside) continue;
        if (runs.length && runs.at(-1)[1] === run[0]) runs.at(-1)[1] = run[1];
        else runs.push(run);
      }
      return runs.flatMap((run) => [...between(...run)]);
    }

    const loose = said.filter((element) => holding.has(element)); // only what stands directly in these was left out
    return { rangesOf, leftOut, loose };
  }

  return aligned;
})();
