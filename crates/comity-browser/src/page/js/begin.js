// The library that the driver keeps in a sandbox of each document. The page sees nothing of it, and nothing of the
// numbers that elements get here: both live in the sandbox, which sees the page through Firefox's X-ray vision.
// Two callers may bring it at once: the first stays, with the numbers it has given.
globalThis.comity = Object.hasOwn(globalThis, "comity") ? globalThis.comity : (() => {
  "use strict";

  /** Elements that are remembered at once; the oldest are forgotten first. */
  const REFS_MAX = 20000;

  /** Says no, in a way that the driver understands. */
  class Refusal {
    constructor(kind, detail) {
      this.kind = kind;
      this.detail = detail;
    }
  }

  const elements = new Map();
  const numbers = new Map();
  /** The next number; a document goes on where the last one of its tab ended, so that none is ever used twice. */
  let next = 0;

  /** The number of an element, given to it now if it has none. */
  function numberOf(element) {
    let number = numbers.get(element);
    if (number === undefined) {
      number = next++;
      numbers.set(element, number);
      elements.set(number, element);
      if (elements.size > REFS_MAX) {
        const [oldest, forgotten] = elements.entries().next().value;
        elements.delete(oldest);
        numbers.delete(forgotten);
      }
    }
    return number;
  }

  /** The element that a target names: `{ref: 12}`, `{css: "button"}`, or the document's own. */
  function find(target) {
    if (target?.ref !== undefined) {
      const element = elements.get(target.ref);
      if (!element || !element.isConnected) {
        throw new Refusal("stale");
      }
      return element;
    }
    if (target?.css !== undefined) {
      let element;
      try {
        element = queryDeep(document, target.css);
      } catch (error) {
        throw new Refusal("invalid", `${target.css} isn't a CSS selector`);
      }
      if (!element) {
        throw new Refusal("not found");
      }
      return element;
    }
    return document.documentElement;
  }

  /** The first element that matches, open shadow trees included. */
  function queryDeep(root, css) {
    const found = root.querySelector(css);
    if (found) {
      return found;
    }
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) {
        const inside = queryDeep(element.shadowRoot, css);
        if (inside) {
          return inside;
        }
      }
    }
    return null;
  }

  /** The parent in the tree that people see: through slots and out of shadow trees. */
  function parentOf(node) {
    return node.assignedSlot || node.parentElement || node.getRootNode().host || null;
  }

  function containsDeep(outer, inner) {
    for (let node = inner; node; node = parentOf(node)) {
      if (node === outer) {
        return true;
      }
    }
    return false;
  }

  const isDisplayed = (element) => element.checkVisibility();
  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true });

  /** Text on one line, not longer than `most`. */
  function oneLine(text, most) {
    const line = text.slice(0, most * 4).replace(/\s+/g, " ").trim();
    return line.length > most ? line.slice(0, most - 1) + "…" : line;
  }

  const commands = {};
