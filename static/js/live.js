// Asks each [data-live] region to refresh itself every data-live seconds, unless the reader is busy
// in it, away or has paused: see docs/pages.md.
import { clock, heard } from "./time.js";
import { say } from "./words.js";

const PAUSED = "signalbox.paused";
const root = document.documentElement;

let pressed = null; // what is held down
document.addEventListener("pointerdown", ({ target }) => { pressed = target; });
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => { pressed = null; });

const resting = (region) =>
  root.dataset.paused === "true" || document.visibilityState !== "visible" || region.contains(pressed) ||
  region.querySelector(":is(input, textarea, select):focus") ||
  (!getSelection().isCollapsed && getSelection().containsNode(region, true));

const due = new WeakMap();
const plan = (region) => {
  due.set(region, performance.now() + region.dataset.live * 1000 * 2 ** Math.min(region.dataset.failures ?? 0, 4));
};
const look = () => {
  for (const region of document.querySelectorAll("[data-live]")) {
    region.dataset.since ??= clock();
    if (!due.has(region)) plan(region);
    if (performance.now() < due.get(region) || resting(region) || region.matches(".htmx-request")) continue;
    plan(region);
    htmx.trigger(region, "live");
  }
};
setInterval(look, 500);

// An answer that comes while the reader is busy is dropped, and the row that they point at or have
// chosen stays where it is, whatever comes above.
let kept = {};
document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (!target.dataset?.live || detail.requestConfig?.triggeringEvent?.type !== "live") return;
  if (resting(target)) detail.shouldSwap = false;
  const anchor = target.querySelector("tr:hover, tr:focus-within, a:focus, button:focus");
  kept = { anchor, top: anchor?.getBoundingClientRect().top };
});
document.addEventListener("htmx:afterSwap", () => {
  if (kept.anchor?.isConnected) scrollBy(0, kept.anchor.getBoundingClientRect().top - kept.top);
  kept = {};
});

document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  const { dataset } = target;
  if (!dataset?.live) return;
  if (detail.successful) {
    heard(detail.xhr.getResponseHeader("Date"));
    Object.assign(dataset, { failures: 0, since: clock() });
    delete dataset.stale;
    if (target.previousElementSibling?.matches(".stale")) target.previousElementSibling.remove();
    if (detail.xhr.status === 286) delete dataset.live;
    else plan(target);
    return;
  }
  dataset.failures = +(dataset.failures ?? 0) + 1;
  plan(target);
  if ("quiet" in dataset || "stale" in dataset) return;
  dataset.stale = "";
  const textContent = say("stale", { time: dataset.since });
  target.before(Object.assign(document.createElement("p"), { className: "stale small", textContent }));
  read(textContent);
});

const heap = new Set();
const read = (text) => {
  if (!heap.size) setTimeout(() => { document.getElementById("announce").textContent = [...heap].join(" "); heap.clear(); }, 200);
  heap.add(text);
};
document.addEventListener("announce", ({ detail }) => read(detail.value));

const buttons = () => document.querySelectorAll("[data-pause]");
const pause = (on) => {
  root.dataset.paused = on;
  sessionStorage.setItem(PAUSED, on);
  for (const button of buttons()) button.ariaPressed = String(on);
};
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-pause]");
  if (button) pause(button.ariaPressed !== "true");
});

// A poll must not close or open what the reader opened or closed, nor untick what they ticked.
const KEPT = { open: "details", hidden: ".copy, [data-pause]", checked: "[data-live] input", "aria-pressed": "[data-pause]" };
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) => !(name in KEPT && node.matches(KEPT[name]));

const show = () => {
  const none = !document.querySelector("[data-live]");
  for (const button of buttons()) button.hidden = none;
  look();
};
document.addEventListener("htmx:load", show);
show();
pause(sessionStorage.getItem(PAUSED) === "true");
