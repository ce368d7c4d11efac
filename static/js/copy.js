import { say } from "./words.js";

// Buttons that copy what is in data-copy. They are hidden until this script can do it.
const announce = (text) => { document.getElementById("announce").textContent = text; };
const show = () => {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll(".copy[hidden]")) button.hidden = false;
};
document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.(".copy");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    announce(say("copied"));
    button.dataset.done = "";
    setTimeout(() => delete button.dataset.done, 1500);
  } catch {
    announce(say("uncopied"));
  }
});
document.addEventListener("htmx:afterSwap", show);
show();
