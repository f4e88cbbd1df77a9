
  // One element: what it is, where it is, and whether a person could use it.

  const ATTRIBUTES_MAX = 40;
  const ATTRIBUTE_MAX = 300;

  commands.content = (args) => {
    const element = args.target ? find(args.target) : document.body || document.documentElement;
    const text = element.innerText ?? element.textContent ?? "";
    // Cut between letters, never inside one.
    const cut = text.length > args.most ? text.slice(0, args.most).replace(/[\ud800-\udbff]$/, "") : text;
    return { text: cut, length: text.length, title: document.title, url: document.location.href };
  };

  commands.element = (args) => {
    const element = find(args.target);
    const role = roleOf(element);
    const box = element.getBoundingClientRect();
    const attributes = {};
    for (const { name, value } of [...element.attributes].slice(0, ATTRIBUTES_MAX)) {
      attributes[name] = element.type === "password" && name === "value" ? "•••" : value.slice(0, ATTRIBUTE_MAX);
    }
    next = Math.max(next, args.firstRef);
    const firstNew = next;
    return {
      number: numberOf(element),
      firstNew,
      next,
      tag: element.localName,
      role,
      name: nameOf(element, role, NAME_MAX),
      value: valueOf(element, role, ATTRIBUTE_MAX),
      state: stateOf(element, role, deepActive()),
      attributes,
      text: oneLine(element.innerText ?? element.textContent ?? "", args.most),
      box: { x: box.x, y: box.y, width: box.width, height: box.height },
      visible: isVisible(element) && box.width > 0 && box.height > 0,
      enabled: !isDisabled(element),
    };
  };

  /** A short name of an element, for messages. */
  function called(element) {
    const role = roleOf(element) || element.localName;
    const name = nameOf(element, role, 40) || (element.id ? "#" + element.id : textOf(element, 40));
    return name ? `${role} "${name}"` : role;
  }

  /** What is at a point, inside of shadow trees too. */
  function elementAt(x, y) {
    let found = document.elementFromPoint(x, y);
    while (found?.shadowRoot) {
      const inside = found.shadowRoot.elementFromPoint(x, y);
      if (!inside || inside === found) {
        break;
      }
      found = inside;
    }
    return found;
  }

  function usable(element) {
    if (!isVisible(element)) {
      throw new Refusal("not clickable", `${called(element)} is hidden`);
    }
    if (isDisabled(element)) {
      throw new Refusal("not clickable", `${called(element)} is disabled`);
    }
  }

  function intoView(element) {
    const box = element.getBoundingClientRect();
    const isInside =
      box.top >= 0 && box.left >= 0 && box.bottom <= window.innerHeight && box.right <= window.innerWidth;
    if (!isInside || window.parent !== window) {
      element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    }
  }

  /** Where to click on an element: a point of it that nothing covers. */
  commands.aim = (args) => {
    const element = find(args.target);
    usable(element);
    intoView(element);
    // A link over two lines has two boxes, and the middle of both together may be beside it.
    const boxes = [...element.getClientRects()].filter((box) => box.width > 0 && box.height > 0);
    if (boxes.length === 0) {
      throw new Refusal("not clickable", `${called(element)} has no size`);
    }
    let inTheWay = null;
    for (const box of boxes) {
      const left = Math.max(box.left, 0);
      const right = Math.min(box.right, window.innerWidth);
      const top = Math.max(box.top, 0);
      const bottom = Math.min(box.bottom, window.innerHeight);
      const x = Math.floor((left + right) / 2);
      const y = Math.floor((top + bottom) / 2);
      const hit = right > left && bottom > top ? elementAt(x, y) : null;
      if (hit && (containsDeep(element, hit) || hit.closest("label")?.control === element)) {
        return { x, y };
      }
      inTheWay = inTheWay || hit;
    }
    const why = inTheWay ? `is covered by ${called(inTheWay)}` : "is outside of the page";
    throw new Refusal("not clickable", `${called(element)} ${why}`);
  };

  /** Puts the caret into an element that takes text; selects what is in it if it is to be replaced. */
  commands.focus = (args) => {
    const element = args.target ? find(args.target) : deepActive();
    if (!element) {
      throw new Refusal("not clickable", "nothing on the page has the focus; name an element");
    }
    usable(element);
    if (element.localName === "select" || SET_TYPES.test(element.type)) {
      return { isSet: true };
    }
    const isField = element.localName === "textarea" || element.localName === "input";
    if ((!isField && !element.isContentEditable) || UNTYPED.test(element.type)) {
      throw new Refusal("not clickable", `${called(element)} takes no text`);
    }
    if (element.readOnly) {
      throw new Refusal("not clickable", `${called(element)} is read-only`);
    }
    intoView(element);
    if (deepActive() !== element) {
      element.focus({ preventScroll: true });
    }
    if (args.clear) {
      if (isField) {
        element.select();
      } else {
        element.ownerDocument.getSelection().selectAllChildren(element);
      }
    }
    const isEmpty = isField ? element.value === "" : element.textContent === "";
    return { isSet: false, isEmpty };
  };

  /** Inputs that a person sets with a picker, and not by typing what will be their value. */
  const SET_TYPES = /^(date|time|month|week|datetime-local|color|range)$/;
  const UNTYPED = /^(button|checkbox|file|image|radio|reset|submit|hidden)$/;

  /** Chooses a value where none can be typed. */
  commands.set = (args) => {
    const element = args.target ? find(args.target) : deepActive();
    if (element.localName === "select") {
      const wanted = args.text.trim();
      const option = [...element.options].find((each) => each.label.trim() === wanted || each.value === args.text);
      if (!option || option.disabled) {
        const labels = oneLine([...element.options].map((each) => each.label).join(", "), TEXT_MAX);
        throw new Refusal("invalid", `${called(element)} has no choice "${args.text}"; it has ${labels}`);
      }
      option.selected = true;
    } else {
      element.value = args.text;
      if (element.value === "" && args.text !== "") {
        throw new Refusal("invalid", `"${args.text}" is no value for an input of type ${element.type}`);
      }
    }
    element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    return { done: true };
  };

  /** Inserts text at the caret as a paste does: one trusted input event. */
  commands.insert = (args) => ({ done: document.execCommand("insertText", false, args.text) });

  commands.scroll = (args) => {
    const element = args.target ? find(args.target) : null;
    const page = document.scrollingElement || document.documentElement;
    if (args.intoView) {
      element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    } else {
      const moved = element || page;
      const end = moved.scrollHeight;
      const top = args.to === "top" ? -end : args.to === "bottom" ? end : args.dy;
      moved.scrollBy({ left: args.dx, top, behavior: "instant" });
    }
    const shown = element && !args.intoView ? element : page;
    return {
      x: shown.scrollLeft,
      y: shown.scrollTop,
      xMax: Math.max(0, shown.scrollWidth - shown.clientWidth),
      yMax: Math.max(0, shown.scrollHeight - shown.clientHeight),
    };
  };

  /** The element itself, for commands of the protocol that take one. */
  commands.handle = (args) => {
    const element = find(args.target);
    element.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    return [JSON.stringify({ ok: null }), element];
  };
