import { say } from "./words.js";

// One dialog over the page for what links with data-sheet lead to: the palette, the keys.
const byId = (id) => document.getElementById(id);
const sheet = byId("sheet");

export const open = async (link) => {
  if (!sheet || !link || sheet.ariaBusy) return;
  if (sheet.open) return sheet.close();
  sheet.ariaBusy = true;
  await htmx.ajax("GET", link.href, { target: sheet, swap: "innerHTML" })
    .catch(() => { sheet.innerHTML = `<p class="go" id="sheet-title">${say("away")}</p>`; });
  sheet.ariaBusy = null;
  if (!sheet.firstElementChild) location.href = link.href;
  else if (!sheet.open) sheet.showModal();
  choose(0);
};

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-sheet]");
  if (event.target === sheet) sheet.close(); // beside its content
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  link.closest("details")?.removeAttribute("open");
  open(link);
});
sheet?.addEventListener("close", () => sheet.replaceChildren());

// Arrows choose among the answers of the palette, Enter follows the chosen one. An answer to what
// was typed before is not followed: the form is sent instead.
const list = () => byId("go-list");
const choose = (index) => {
  const options = list()?.children ?? [];
  const one = options[(index + options.length) % options.length];
  for (const each of options) each.ariaSelected = String(each === one);
  byId("go-text")?.setAttribute("aria-activedescendant", one?.id ?? "");
  one?.scrollIntoView({ block: "nearest" });
};
sheet?.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (target.id !== "go-text" || event.isComposing) return;
  const options = [...list().children];
  const now = options.findIndex((each) => each.ariaSelected === "true");
  if (key === "ArrowDown" || key === "ArrowUp") choose(now + (key === "ArrowDown" ? 1 : -1));
  else if (key === "Enter" && now >= 0 && list().dataset.for === target.value.trim()) options[now].click();
  else return;
  event.preventDefault();
});
sheet?.addEventListener("htmx:sendError", () => byId("go-answers").replaceChildren(say("away")));
sheet?.addEventListener("htmx:afterSwap", ({ target }) => target.id === "go-answers" && choose(0));
