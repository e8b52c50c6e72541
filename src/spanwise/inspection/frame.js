"use strict";
// A page in a frame that runs nothing and loads nothing. It is built in a document that no browser shows, what could
// act is taken away there, and only then it is put into the frame, whose sandbox and security policy would stop it too.
const framed = (() => {
  const ACTING = "script, link, meta, base, iframe, frame, object, embed, applet, portal, fencedframe, source, track, " +
    "animate, animateMotion, animateTransform, set, discard, foreignObject iframe, title, noembed, noframes";
  const LEADING = new Set([ // attributes that name an address, or do something by themselves
    "src", "srcset", "href", "xlink:href", "poster", "background", "data", "action", "formaction", "ping", "srcdoc",
    "manifest", "codebase", "archive", "classid", "cite", "longdesc", "profile", "usemap", "imagesrcset", "lowsrc",
    "dynsrc", "autofocus", "autoplay", "target", "download", "nonce", "integrity", "is", "popover", "popovertarget",
    "command", "commandfor", "http-equiv", "attributionsrc", "contenteditable", "accesskey", "inert",
  ]);
  const ADDRESS = /url\(\s{0,9}(?:"[^"]{0,2000}"|'[^']{0,2000}'|[^)]{0,2000})\s{0,9}\)/gi;
  const KEPT = /^url\(\s{0,9}["']?(?:data:image\/|#)/i;
  const PLAIN = `
    body { font: 16px/1.55 system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; margin: 1.2rem 1.4rem; }
    table { border-collapse: collapse; } td, th { border: 1px solid #c8c8c8; padding: .3rem .6rem; text-align: start; }
    pre { background: #f4f4f2; padding: .7rem .9rem; overflow-x: auto; } img { max-width: 100%; }
  `;

  // A form or document answers for the names of what it holds: `form.firstChild` might be an input of that name.
  function unnamed(parsed) {
    const holders = "[name], form, button, fieldset, input, object, output, select, textarea, img, embed, iframe";
    for (const element of Document.prototype.querySelectorAll.call(parsed, holders)) {
      for (const name of ["name", "id", "form"]) Element.prototype.removeAttribute.call(element, name);
    }
    return parsed;
  }

  const harmless = (css) =>
    css.replace(ADDRESS, (found) => (KEPT.test(found) ? found : "url(data:,)")).replace(/@import\b[^;]{0,2000};?/gi, "");

  function kept(element, name, value) {
    if (name === "href" && (element.localName === "a" || element.localName === "area")) return "#";
    if (name === "src" && element.localName === "img" && /^\s*data:image\//i.test(value)) return value;
    return /href$/.test(name) && /^\s*#/.test(value) ? value : null;
  }

  function stripped(parsed) {
    const sheets = [];
    const styled = [];
    for (const style of parsed.querySelectorAll("style")) {
      sheets.push({ css: style.textContent, media: style.media ?? "" });
      style.remove();
    }
    for (const element of parsed.querySelectorAll(ACTING)) element.remove();
    for (const element of [parsed.documentElement, ...parsed.documentElement.querySelectorAll("*")]) {
      for (const { name, value } of [...element.attributes]) {
        const plain = name.toLowerCase();
        if (plain === "style") {
          styled.push([element, value]);
          element.removeAttribute(name);
        } else if (plain.startsWith("on")) {
          element.removeAttribute(name);
        } else if (LEADING.has(plain)) {
          const left = kept(element, plain, value);
          if (left === null) element.removeAttribute(name);
          else element.setAttribute(name, left);
        }
      }
      if (element.localName === "details") element.open = true; // chunks may stand in it
    }
    return { sheets, styled };
  }

  function sheetOf(view, css, media = "") {
    const sheet = new view.CSSStyleSheet({ media });
    sheet.replaceSync(harmless(css));
    for (let at = sheet.cssRules.length - 1; at >= 0; at -= 1) {
      if (sheet.cssRules[at].type === CSSRule.FONT_FACE_RULE) sheet.deleteRule(at); // it would only be refused
    }
    return sheet;
  }

  const parsedOf = (html) => unnamed(new DOMParser().parseFromString(html, "text/html"));

  // Put a parsed page into a frame, with a style sheet of our own after its own ones.
  function put(frame, parsed, css) {
    const { sheets, styled } = stripped(parsed);
    const page = frame.contentDocument;
    const view = frame.contentWindow;
    page.replaceChild(page.adoptNode(parsed.documentElement), page.documentElement);
    for (const [element, words] of styled) element.style.cssText = harmless(words);
    const own = sheets.map(({ css: words, media }) => sheetOf(view, words, media));
    page.adoptedStyleSheets = [...(own.length ? own : [sheetOf(view, PLAIN)]), sheetOf(view, css)];
    return page;
  }

  return { parsedOf, put };
})();
