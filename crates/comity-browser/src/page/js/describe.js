
  // What an element is: its role, its name, its value and its state.

  const ROLES = {
    a: "link", area: "link", article: "article", aside: "complementary", audio: "audio", blockquote: "blockquote",
    button: "button", canvas: "canvas", caption: "caption", code: "code", dd: "definition", details: "group",
    dialog: "dialog", dt: "term", fieldset: "group", figcaption: "caption", figure: "figure", footer: "contentinfo",
    form: "form", frame: "iframe", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading",
    h6: "heading", header: "banner", iframe: "iframe", img: "img", label: "label", legend: "legend", li: "listitem",
    main: "main", meter: "meter", nav: "navigation", optgroup: "group", option: "option", output: "status",
    p: "paragraph", pre: "code", progress: "progressbar", search: "search", section: "region", select: "combobox",
    summary: "button", svg: "img", table: "table", td: "cell", textarea: "textbox", th: "columnheader", tr: "row",
    video: "video",
  };
  const INPUT_ROLES = {
    button: "button", checkbox: "checkbox", color: "color", file: "file", image: "button", number: "spinbutton",
    radio: "radio", range: "slider", reset: "button", search: "searchbox", submit: "button",
  };
  const INTERACTIVE_ROLES = new Set([
    "button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
    "radio", "scrollbar", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem", "color", "file",
  ]);
  /** Named by what is in them; nothing below them is told apart from what can be acted on. */
  const NAMED_BY_CONTENT = new Set([
    "button", "caption", "cell", "checkbox", "code", "columnheader", "definition", "gridcell", "heading", "label",
    "legend", "link", "listitem", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "paragraph", "radio",
    "row", "rowheader", "status", "switch", "tab", "term", "tooltip", "treeitem",
  ]);
  /** Told even without a name: they say where on the page one is. */
  const PLACES = new Set([
    "alert", "alertdialog", "banner", "complementary", "contentinfo", "dialog", "form", "main", "menu", "menubar",
    "navigation", "search", "table", "grid", "tablist", "toolbar", "tree",
  ]);
  const SKIPPED = new Set([
    "base", "br", "col", "colgroup", "head", "hr", "link", "meta", "noscript", "param", "script", "source", "style",
    "template", "track", "wbr",
  ]);
  const EDITABLE_TEXT = new Set(["textbox", "searchbox", "spinbutton", "combobox"]);

  // Each look at the page through X-ray vision costs a microsecond or two, and a selector is one look however many
  // attributes are in it. So the usual element, which has none of them, is asked by selector.
  const MAY_BE_CLICKED = "[onclick], [tabindex], [contenteditable]";
  const HAS_NAME = "[aria-label], [aria-labelledby], [alt], [title], [placeholder]";
  const HAS_STATE =
    "[aria-checked], [aria-expanded], [aria-selected], [aria-pressed], [aria-invalid], [aria-busy], [aria-current], " +
    "[aria-required], [aria-readonly]";
  const IS_DISABLED = ":disabled, [aria-disabled=true], [aria-disabled=true] *";
  const FIELDS = new Set(["input", "select", "textarea"]);

  function roleOf(element, tag = element.localName) {
    const given = element.getAttribute("role");
    if (given) {
      return given.trim().split(/\s+/)[0].toLowerCase();
    }
    if (tag === "input") {
      return INPUT_ROLES[element.type] || (element.type === "hidden" ? "" : "textbox");
    }
    if (tag === "select" && (element.multiple || element.size > 1)) {
      return "listbox";
    }
    if ((tag === "a" || tag === "area") && !element.hasAttribute("href")) {
      return "";
    }
    return ROLES[tag] || "";
  }

  function isInteractive(element, role) {
    if (INTERACTIVE_ROLES.has(role)) {
      return role !== "option" || !element.closest("select");
    }
    if (!element.matches(MAY_BE_CLICKED)) {
      return false;
    }
    return (
      element.hasAttribute("onclick") ||
      (element.hasAttribute("tabindex") && element.tabIndex >= 0) ||
      (element.isContentEditable && !element.parentElement?.isContentEditable)
    );
  }

  /** Whether an element, or at least what is in it, is displayed: slots have no box of their own. */
  const isShown = (element) => element.localName === "slot" || isDisplayed(element);

  /** What can be read in an element, up to a length; what is hidden is left out. */
  function textOf(element, most) {
    if (element.childElementCount === 0 && !element.shadowRoot && element.localName !== "slot") {
      return oneLine(element.textContent, most);
    }
    let text = "";
    const walk = (node) => {
      const slotted = node.localName === "slot" ? node.assignedNodes() : [];
      for (const child of slotted.length ? slotted : node.childNodes) {
        if (text.length >= most * 2) {
          return;
        }
        if (child.nodeType === 3) {
          text += child.data.length > most * 2 ? child.data.slice(0, most * 2) : child.data;
        } else if (child.nodeType === 1 && !SKIPPED.has(child.localName) && isShown(child)) {
          text += child.localName === "img" ? ` ${child.alt} ` : " ";
          walk(child.shadowRoot || child);
          text += " ";
        }
      }
    };
    walk(element.shadowRoot || element);
    return oneLine(text.replace(/ +([.,;:!?)])/g, "$1"), most);
  }

  function nameOf(element, role, most) {
    const isPlain = !FIELDS.has(element.localName) && !element.matches(HAS_NAME);
    if (isPlain && NAMED_BY_CONTENT.has(role)) {
      return textOf(element, most);
    }
    const labelledBy = element.getAttribute("aria-labelledby");
    if (labelledBy) {
      const root = element.getRootNode();
      const parts = labelledBy.split(/\s+/).map((id) => root.getElementById?.(id));
      const name = parts.map((part) => (part ? textOf(part, most) : "")).join(" ").trim();
      if (name) {
        return oneLine(name, most);
      }
    }
    const labels = element.labels;
    const isPushed = element.localName === "input" && INPUT_ROLES[element.type] === "button";
    const name =
      element.getAttribute("aria-label") ||
      (labels?.length ? textOf(labels[0], most) : "") ||
      element.getAttribute("alt") ||
      (isPushed ? element.value || element.type : "") ||
      (NAMED_BY_CONTENT.has(role) && !isPushed ? textOf(element, most) : "") ||
      (role === "img" ? element.querySelector("title")?.textContent : "") ||
      (role === "group" ? element.querySelector("legend, summary")?.textContent : "") ||
      (role === "iframe" ? element.getAttribute("title") || element.name || element.src : "") ||
      element.getAttribute("title") ||
      element.getAttribute("placeholder") ||
      "";
    return oneLine(name, most);
  }

  function valueOf(element, role, most) {
    const tag = element.localName;
    if (!FIELDS.has(tag) && !element.matches("[contenteditable], [aria-valuetext], [aria-valuenow]")) {
      return "";
    }
    if (tag === "select") {
      return oneLine([...element.selectedOptions].map((option) => option.label).join(", "), most);
    }
    if (element.type === "password") {
      // A password is nobody's business; that there is one may be.
      return element.value ? "•••" : "";
    }
    if (FIELDS.has(tag)) {
      const isText = EDITABLE_TEXT.has(role) || role === "slider" || role === "color" || role === "file";
      return isText ? oneLine(String(element.value), most) : "";
    }
    if (element.isContentEditable && isInteractive(element, role)) {
      return textOf(element, most);
    }
    return element.getAttribute("aria-valuetext") || element.getAttribute("aria-valuenow") || "";
  }

  function isDisabled(element) {
    return element.matches(IS_DISABLED);
  }

  function stateOf(element, role, active) {
    const tag = element.localName;
    const state = [];
    const hasState = element.matches(HAS_STATE);
    const aria = (name) => (hasState ? element.getAttribute("aria-" + name) : null);
    if (role === "heading") {
      state.push("level=" + (element.getAttribute("aria-level") || tag.slice(1)));
    }
    const isChecked = (role === "checkbox" || role === "radio") && tag === "input";
    if ((isChecked && element.indeterminate) || aria("checked") === "mixed") {
      state.push("mixed");
    } else if ((isChecked && element.checked) || aria("checked") === "true") {
      state.push("checked");
    }
    if (isDisabled(element)) {
      state.push("disabled");
    }
    const expanded = aria("expanded") || (tag === "summary" && String(!!element.parentElement?.open));
    if (expanded === "true" || expanded === "false") {
      state.push(expanded === "true" ? "expanded" : "collapsed");
    }
    for (const name of hasState ? ["selected", "pressed", "invalid", "busy"] : []) {
      if (aria(name) === "true") {
        state.push(name);
      }
    }
    if (hasState && aria("current") && aria("current") !== "false") {
      state.push("current");
    }
    const isField = FIELDS.has(tag);
    if ((isField && element.required) || aria("required") === "true") {
      state.push("required");
    }
    if ((isField && element.readOnly) || aria("readonly") === "true") {
      state.push("readonly");
    }
    if (element === active) {
      state.push("focused");
    }
    return state.join(" ");
  }

  /** The element that has the focus, inside of shadow trees too. */
  function deepActive() {
    let active = document.activeElement;
    while (active?.shadowRoot?.activeElement) {
      active = active.shadowRoot.activeElement;
    }
    return active === document.body ? null : active;
  }
