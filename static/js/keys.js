// Keys move the focus, follow links and pause updates; none decides or changes anything: see
// docs/pages.md.
import { open } from "./sheet.js";

const PATIENCE = 1500; // milliseconds between g and the letter after it
const OVER = "dialog[open], details.menu[open]";
const TYPING = "textarea, select, input:not([type=checkbox], [type=radio]), [contenteditable]";

const all = (selector) => [...document.querySelectorAll(selector)].filter((it) => it.checkVisibility());
const keyed = (key) => document.querySelector(`[data-key="${CSS.escape(key)}"]`);
const follow = (...selectors) => selectors.map((each) => all(each)[0]).find(Boolean)?.click();
let at = 0; // the row that had the focus; it may be gone
const step = (by) => {
  const rows = all("main .list .open");
  const here = document.activeElement.closest(".list tr");
  const now = rows.findIndex((row) => here?.contains(row));
  if (now >= 0) at = Math.max(now + by, 0);
  (rows[at] ?? rows.at(-1))?.focus();
};
const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  "[": () => follow("main a[rel=prev]"),
  "]": () => follow("main a[rel=next]"),
  u: () => follow("main [rel=up]", "main .crumbs a:last-of-type"),
  ".": () => follow("main a[data-key='.']", "main .fresh a"),
  p: () => follow("[data-pause]"),
  "/": () => all("main [type=search]")[0]?.focus(),
  "?": () => open(keyed("?")),
};

const commands = ({ key, target, shiftKey }) => {
  if (key.toLowerCase() === "k" && !shiftKey) return open(keyed("Ctrl K")), true;
  const buttons = [...(target.form?.elements ?? [])].filter((it) => it.type === "submit");
  if (key !== "Enter" || !buttons.length) return false;
  const [only] = buttons;
  if (buttons.length < 2 && !only.matches(".danger, [data-key]")) only.click();
  else (buttons.find((it) => it.matches(".primary")) ?? only).focus();
  return true;
};

let lead = 0;
const single = (key) => {
  const after = Date.now() - lead < PATIENCE;
  lead = key === "g" && !after ? Date.now() : 0;
  if (after) return keyed(`g ${key}`)?.click();
  if (key > 0) return all("main .tabs a")[key - 1]?.click();
  return Object.hasOwn(KEYS, key) ? KEYS[key]() : all(`[data-key="${CSS.escape(key)}"]`)[0]?.focus();
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if ((ctrlKey || metaKey) && !altKey) return commands(event) && event.preventDefault();
  // On some keyboards [ and ] need AltGr, which Windows reports as Ctrl and Alt.
  if ((ctrlKey || altKey) && !event.getModifierState("AltGraph")) return;
  if (document.documentElement.dataset.keys === "off" || key.length > 1) return;
  if (event.repeat && !"jk".includes(key)) return;
  if (target.matches?.(TYPING) || document.querySelector(OVER)) return;
  single(key);
  if ("/?".includes(key)) event.preventDefault();
});
