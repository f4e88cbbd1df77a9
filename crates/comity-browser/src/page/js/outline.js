
  // The outline: what a reader of the page would call its parts, in their order, as far as the budget goes.

  const NAME_MAX = 120;
  const TEXT_MAX = 240;
  /** More elements than this in one text, and it is looked at part by part. */
  const TEXT_ELEMENTS_MAX = 60;
  const BLOCKS = new Set([
    "address", "article", "aside", "blockquote", "details", "dialog", "div", "dl", "fieldset", "figure", "footer",
    "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "iframe", "li", "main", "nav", "ol", "p", "pre", "section",
    "table", "tbody", "thead", "tr", "ul", "video",
  ]);

  /** The elements right below one, in the tree that people see. */
  function childrenOf(element) {
    if (element.shadowRoot) {
      return element.shadowRoot.children;
    }
    if (element.localName === "slot") {
      const assigned = element.assignedElements();
      return assigned.length ? assigned : element.children;
    }
    return element.children;
  }

  function hasOwnText(element) {
    for (let child = element.firstChild; child; child = child.nextSibling) {
      if (child.nodeType === 3 && /\S/.test(child.data)) {
        return true;
      }
    }
    return false;
  }

  function ownText(element) {
    let text = "";
    for (let child = element.firstChild; child; child = child.nextSibling) {
      text += child.nodeType === 3 ? child.data + " " : "";
    }
    return oneLine(text, TEXT_MAX);
  }

  /** Whether an element is one text with at most inline parts. */
  function isOneText(element) {
    const parts = element.getElementsByTagName("*");
    if (parts.length > TEXT_ELEMENTS_MAX || element.shadowRoot) {
      return false;
    }
    for (const part of parts) {
      if (BLOCKS.has(part.localName) || part.shadowRoot) {
        return false;
      }
    }
    return true;
  }

  const MAY_ACT =
    "a, area, button, input, select, textarea, summary, option, iframe, frame, [role], " + MAY_BE_CLICKED;

  commands.outline = (args) => {
    next = Math.max(next, args.firstRef);
    const firstNew = next;
    const root = args.scope ? find(args.scope) : document.body || document.documentElement;
    const after = args.after === undefined ? null : find({ ref: args.after });
    const passed = new Set();
    for (let node = after; node; node = parentOf(node)) {
      passed.add(node);
    }
    const nodes = [];
    const frames = [];
    let bytes = 0;
    let isFull = false;
    let isSkipping = after !== null;
    const active = deepActive();

    const tell = (element, depth, role, name, isWindow) => {
      if (isSkipping) {
        return;
      }
      const node = { r: numberOf(element), d: depth, k: role };
      const value = valueOf(element, role, NAME_MAX);
      const state = stateOf(element, role, active);
      if (name) node.n = name;
      if (value) node.v = value;
      if (state) node.s = state;
      if (isWindow) {
        node.f = frames.length;
        frames.push(element.contentWindow);
      }
      nodes.push(node);
      bytes += 12 + depth + role.length + name.length + value.length + state.length;
      isFull = nodes.length >= args.nodesMax || bytes >= args.bytesMax;
    };

    const descend = (element, depth, onlyActions) => {
      for (const child of childrenOf(element)) {
        if (isFull) {
          return;
        }
        visit(child, depth, onlyActions);
      }
    };

    const visit = (element, depth, onlyActions) => {
      const tag = element.localName;
      if (SKIPPED.has(tag) || (isSkipping && !passed.has(element))) {
        return;
      }
      const isSeen = isVisible(element);
      if (!isSeen && !isDisplayed(element)) {
        if (getComputedStyle(element).display === "contents") {
          descend(element, depth, onlyActions);
        }
        return;
      }
      if (element.matches("[aria-hidden=true], [inert]")) {
        return;
      }
      if (onlyActions && element !== after && !element.matches(MAY_ACT)) {
        descend(element, depth, onlyActions);
        return;
      }
      const role = roleOf(element, tag);
      const isAction = isInteractive(element, role);
      let isTold = false;
      let below = onlyActions;
      if (!isSeen) {
        // Its parts may be visible again.
      } else if (role === "iframe") {
        tell(element, depth, role, nameOf(element, role, NAME_MAX), true);
        isTold = true;
      } else if (isAction) {
        tell(element, depth, role || "clickable", nameOf(element, role, NAME_MAX) || textOf(element, NAME_MAX));
        isTold = true;
        below = true;
      } else if (onlyActions) {
        // Only what can be acted on is of interest here.
      } else if (role === "label" && element.control) {
        // It is the name of what it labels.
      } else if (role === "row") {
        // Firefox puts tabs between the cells of a table.
        const name = tag === "tr" ? oneLine(element.innerText.replace(/\t/g, " | "), TEXT_MAX) : textOf(element, TEXT_MAX);
        isTold = name !== "";
        if (isTold) tell(element, depth, role, name);
        below = true;
      } else if (role === "img" || role === "progressbar" || role === "meter" || role === "canvas") {
        const name = nameOf(element, role, NAME_MAX);
        isTold = name !== "" || role !== "img";
        if (isTold) tell(element, depth, role, name);
      } else if (hasOwnText(element) || (NAMED_BY_CONTENT.has(role) && isOneText(element))) {
        const isWhole = isOneText(element);
        const name = isWhole ? textOf(element, TEXT_MAX) : ownText(element);
        isTold = name !== "";
        if (isTold) tell(element, depth, role || "text", name);
        below = isWhole;
      } else if (PLACES.has(role) || element.hasAttribute("aria-label")) {
        tell(element, depth, role || "group", nameOf(element, role, NAME_MAX));
        isTold = true;
      }
      if (element === after) {
        isSkipping = false;
      }
      if (isFull || tag === "svg" || tag === "select") {
        return;
      }
      const inner = isTold ? depth + 1 : depth;
      if (inner <= args.depthMax) {
        descend(element, inner, below);
      }
    };

    const onlyActions = args.interactiveOnly === true;
    if (args.scope) {
      visit(root, args.depth, onlyActions);
    } else {
      descend(root, args.depth, onlyActions);
    }
    const told = { nodes, isFull, firstNew, next, title: document.title, url: document.location.href };
    return [JSON.stringify({ ok: told }), ...frames];
  };
