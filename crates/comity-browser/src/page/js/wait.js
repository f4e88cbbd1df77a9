
  // Waiting: a promise that is kept when the page changes so that the condition holds. Only the address is polled.

  /** How often a busy page is looked at, at most. */
  const LOOK_MS = 20;

  /** How often the address is looked at: `history.pushState` tells nobody. */
  const ADDRESS_MS = 200;

  /** Whether an address contains a text, or matches a pattern as a whole if there are stars in it. */
  function matchesUrl(pattern, url) {
    if (!pattern.includes("*")) {
      return url.includes(pattern);
    }
    const parts = pattern.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`, "s").test(url);
  }

  function holds(condition) {
    switch (condition.kind) {
      case "selector": {
        const element = queryDeep(document, condition.css);
        return element !== null && isVisible(element);
      }
      case "gone": {
        const element = queryDeep(document, condition.css);
        return element === null || !isVisible(element);
      }
      case "text":
        return (document.body?.innerText ?? "").replace(/\s+/g, " ").includes(condition.text);
      case "url":
        return matchesUrl(condition.pattern, document.location.href);
      case "load":
        return document.readyState === "complete" || (condition.interactive && document.readyState === "interactive");
    }
    throw new Refusal("invalid", "there is no such condition");
  }

  commands.wait = (args) =>
    new Promise((resolve, reject) => {
      const OBSERVED = { childList: true, subtree: true, attributes: true, characterData: true };
      const EVENTS = ["load", "DOMContentLoaded", "readystatechange", "transitionend", "animationend", "toggle", "resize",
        "popstate", "hashchange"];
      const roots = new Set();
      let timer = null;
      let looked = -Infinity;
      let giveUp = null;
      let ticking = null;
      const observer = new MutationObserver(() => changed());

      const end = () => {
        observer.disconnect();
        clearTimeout(timer);
        clearTimeout(giveUp);
        clearInterval(ticking);
        for (const name of EVENTS) {
          document.removeEventListener(name, changed, true);
          window.removeEventListener(name, changed, true);
        }
      };
      const observe = (root) => {
        if (!roots.has(root)) {
          roots.add(root);
          observer.observe(root, OBSERVED);
        }
        for (const element of root.querySelectorAll("*")) {
          if (element.shadowRoot) {
            observe(element.shadowRoot);
          }
        }
      };
      const look = () => {
        timer = null;
        looked = performance.now();
        try {
          if (holds(args.condition)) {
            end();
            resolve(true);
          } else if (args.condition.kind !== "load") {
            observe(document);
          }
        } catch (error) {
          end();
          reject(error);
        }
      };
      const changed = () => {
        if (timer === null) {
          timer = setTimeout(look, Math.max(0, LOOK_MS - (performance.now() - looked)));
        }
      };

      for (const name of EVENTS) {
        document.addEventListener(name, changed, true);
        window.addEventListener(name, changed, true);
      }
      // The driver has given up by then; nothing of this stays in the page.
      giveUp = setTimeout(() => { end(); resolve(false); }, args.timeoutMs);
      if (args.condition.kind === "url") {
        ticking = setInterval(look, ADDRESS_MS);
      }
      try {
        if (args.condition.css !== undefined) {
          document.querySelector(args.condition.css);
        }
      } catch (error) {
        end();
        reject(new Refusal("invalid", `${args.condition.css} isn't a CSS selector`));
        return;
      }
      look();
    });
