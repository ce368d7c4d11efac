import { say } from "./words.js";

// Asks every [data-live] region to refresh itself, unless the reader is busy, away or has paused.
//
// A region polls every data-live seconds; each failure in a row doubles that, up to 16 times. Its
// answer is morphed in, so focus, scroll and what the reader opened stay. An answer with status 286
// is the last one. A response may carry HX-Trigger: {"announce": "3 new runs"}; it is read out once.
const PAUSED = "signalbox.paused";
const root = document.documentElement;
const clock = () => new Date().toLocaleTimeString([], { hour12: false });

const busy = (region) =>
  region.contains(document.activeElement) &&
  document.activeElement.matches("input, textarea, select, [contenteditable]");
const resting = (region) =>
  root.dataset.paused === "true" || document.visibilityState !== "visible" || busy(region);

const watched = new WeakSet();
const watch = (region) => {
  if (watched.has(region)) return;
  watched.add(region);
  const tick = () => {
    if (!region.isConnected || !region.dataset.live) return watched.delete(region);
    if (!resting(region)) htmx.trigger(region, "live");
    return wait();
  };
  const wait = () =>
    setTimeout(tick, Number(region.dataset.live) * 1000 * 2 ** Math.min(Number(region.dataset.failures ?? 0), 4));
  region.dataset.since = clock();
  wait();
};
const watchAll = () => {
  document.querySelectorAll("[data-live]").forEach(watch);
  const any = document.querySelector("[data-live]") !== null;
  for (const button of document.querySelectorAll("[data-pause]")) button.hidden = !any;
};

// A poll's answer that arrives while the reader types is dropped, not put under their hands.
document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (target.dataset?.live && detail.requestConfig?.triggeringEvent?.type === "live" && resting(target)) detail.shouldSwap = false;
});
document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  if (!target.dataset?.live) return;
  const note = target.previousElementSibling?.matches("[data-stale-note]") ? target.previousElementSibling : null;
  if (detail.successful) {
    target.dataset.failures = "0";
    target.dataset.since = clock();
    delete target.dataset.stale;
    if (detail.xhr.status === 286) delete target.dataset.live;
    note?.remove();
    return;
  }
  target.dataset.failures = String(Number(target.dataset.failures ?? 0) + 1);
  if ("quiet" in target.dataset) return;
  target.dataset.stale = "";
  const text = say("stale", { time: target.dataset.since });
  if (note) { note.textContent = text; return; }
  const made = document.createElement("p");
  made.className = "stale small";
  made.dataset.staleNote = "";
  made.setAttribute("role", "status");
  made.textContent = text;
  target.before(made);
});
document.addEventListener("htmx:load", watchAll);
document.addEventListener("announce", ({ detail }) => {
  document.getElementById("announce").textContent = detail.value;
});

const pause = (on) => {
  root.dataset.paused = String(on);
  sessionStorage.setItem(PAUSED, String(on));
  for (const button of document.querySelectorAll("[data-pause]")) button.setAttribute("aria-pressed", String(on));
};
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-pause]");
  if (button) pause(button.getAttribute("aria-pressed") !== "true");
});

// A poll must not close or open what the reader opened or closed, nor untick what they ticked.
Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
  !(name === "open" && node.localName === "details") && !(name === "hidden" && node.matches(".copy, [data-pause]")) &&
  !(name === "checked" && node.matches("[data-live] input")) && !(name === "aria-pressed" && node.matches("[data-pause]"));

watchAll();
pause(sessionStorage.getItem(PAUSED) === "true");
