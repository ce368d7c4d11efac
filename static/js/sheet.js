// One dialog for what comes over a page: where to go, and the keys. Links with data-sheet open it;
// without a script, and where it cannot be fetched, they lead to the same as a page.
const sheet = document.getElementById("sheet");

export const open = async (link) => {
  if (!sheet || !link) return;
  if (sheet.open) return sheet.close();
  await htmx.ajax("GET", link.href, { target: sheet, swap: "innerHTML" });
  if (!sheet.firstElementChild) location.href = link.href;
  else if (!sheet.open) sheet.showModal();
  choose(0);
};

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-sheet]");
  if (event.target === sheet) sheet.close(); // beside its content
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const menu = link.closest("details");
  if (menu) menu.open = false;
  open(link);
});
sheet?.addEventListener("close", () => sheet.replaceChildren());

// The palette: arrows choose among its answers, Enter follows the chosen one. An answer to what was
// typed before is not followed: the form is sent instead, and answers as a page.
const list = () => document.getElementById("go-list");
const chosen = () => list()?.querySelector("[aria-selected=true]");
const choose = (index) => {
  const options = list()?.children ?? [];
  const one = options[(index + options.length) % options.length];
  for (const each of options) each.setAttribute("aria-selected", String(each === one));
  document.getElementById("go-text")?.setAttribute("aria-activedescendant", one?.id ?? "");
  one?.scrollIntoView({ block: "nearest" });
};
sheet?.addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (target.id !== "go-text" || event.isComposing) return;
  const now = [...list().children].indexOf(chosen());
  const current = list().dataset.for === target.value.trim();
  if (key === "ArrowDown" || key === "ArrowUp") choose(now + (key === "ArrowDown" ? 1 : -1));
  else if (key === "Enter" && current && chosen()) chosen().click();
  else return;
  event.preventDefault();
});
sheet?.addEventListener("htmx:afterSwap", ({ target }) => target.id === "go-answers" && choose(0));
