// Looks over the shoulder of who presses keys: window.__keys says what each did that it should not,
// or did not although it should. Nothing is followed, sent or pressed meanwhile.
(() => {
  const seen = (query) => [...document.querySelectorAll(query)].filter((it) => it.checkVisibility());
  const named = (query, name) => seen(query).find((it) => name.test(it.textContent.trim()));
  const short = (it) => it ? it.outerHTML.replace(/\s+/g, " ").slice(0, 120) : "nothing";

  // What people see that a key is for: by its words and its place, not by what scripts go by.
  const rows = seen("main .list .open");
  const above = seen("main .crumbs a")
    .filter((it) => !/^(Previous|Next)$/.test(it.textContent) && !it.search.startsWith("?agent="));
  const wanted = {
    "/": ["focus", seen("main input:is([type=search], [name=q])")[0]],
    u: ["click", above.at(-1)],
    p: ["click", named("main button", /^Pause updates$/)],
    j: ["focus", rows[0]],
    k: ["focus", rows[0]],
    "[": ["click", named("main a", /^(Previous|Before|Newer)$/)],
    "]": ["click", named("main a", /^(Next|After|Older|Next for you: .*)$/)],
    ".": ["click", named("main a", /^\d+( or more)? new: show$/)],
    a: ["focus", seen(".decide .primary")[0]],
    r: ["focus", seen(".decide .danger")[0]],
    e: ["focus", named("summary", /^(Change arguments|Answer with a value|Answer in your own .*)$/)],
  };
  seen("main .tabs a").slice(0, 9).forEach((it, index) => { wanted[index + 1] = ["click", it]; });
  const places = {};
  for (const it of seen(".top nav a")) places[it.dataset.key.at(-1)] = ["click", it];

  let key = "", loose = true, noted = [];
  const hidden = (it) => {
    const drawn = it.closest(".list tr:has(.open:focus), .choices label") ?? it;
    const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
    if (outlineStyle === "none" || parseFloat(outlineWidth) < 2) return "without a mark";
    const { left, top, width, height } = it.getClientRects()[0];
    const there = document.elementFromPoint(left + width / 2, top + height / 2);
    return it === there || it.contains(there) || there?.contains(it) ? "" : `below ${short(there)}`;
  };
  const note = (what) => (event) => {
    const { target } = event;
    const it = what === "click" ? target.closest("a, button, summary, label, input") : target;
    noted.push([key, what, it, what === "focus" ? hidden(it) : ""]);
    if (what === "focus") return;
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("click", note("click"), true);
  addEventListener("submit", note("submit"), true);
  addEventListener("focusin", note("focus"), true);
  addEventListener("keydown", (event) => {
    key = event.key;
    if (loose) document.activeElement.blur();
  }, true);

  // What was noted, held against what each key should do: ["click" or "focus", on what].
  const judge = (when, wishes, anywhere = false) => {
    const wrong = noted.map(([pressed, what, it, where]) => {
      const [how, aim] = wishes[pressed] ?? [];
      if (how !== what || (!anywhere && it !== aim))
        return `${when}, ${pressed} gives a ${what} to ${short(it)}`;
      return where && `${when}, the focus is ${where}: ${short(it)}`;
    });
    const done = new Set(noted.map(([pressed]) => pressed));
    const missed = Object.entries(wishes)
      .filter(([pressed, [, it]]) => it && !done.has(pressed))
      .map(([pressed, [how, it]]) => `${when}, ${pressed} gives no ${how} to ${short(it)}`);
    noted = [];
    return [...wrong.filter(Boolean), ...missed];
  };

  // Has a live region ask while something in it has the focus.
  const updated = async (region, it) => {
    it.focus();
    const done = new Promise((resolve) => {
      region.addEventListener("htmx:afterSettle", resolve, { once: true });
      region.addEventListener("htmx:afterRequest", () => setTimeout(resolve, 100), { once: true });
    });
    htmx.trigger(region, "live");
    await done;
    return document.activeElement === it ? [] : [`an update takes the focus from ${short(it)}`];
  };

  window.__keys = {
    rows: rows.length,
    places: Object.keys(places).join(""),
    alone: () => judge("alone", wanted),
    led: () => judge("after g", places),
    nothing: (when) => judge(when, {}),
    walked: () => judge("in rows", { j: ["focus"], k: ["focus"] }, true),
    row: () => rows.indexOf(document.activeElement),
    loose: (on) => {
      document.activeElement.blur();
      loose = on;
      noted = [];
    },
    compose: (keys) => {
      for (const each of [...keys, "Process"])
        document.body.dispatchEvent(
          new KeyboardEvent("keydown", { key: each, isComposing: true, bubbles: true }));
    },
    updates: async () => {
      const regions = seen("main [data-live]");
      const lost = regions.length && !wanted.p[1] ? ["p pauses no updates"] : [];
      for (const region of regions) {
        const inside = [...region.querySelectorAll("a, button, summary")];
        const some = inside.filter((it) => it.checkVisibility());
        for (const it of new Set([some.at(0), some.at(-1)]))
          if (it) lost.push(...await updated(region, it));
      }
      return lost;
    },
  };
})();
