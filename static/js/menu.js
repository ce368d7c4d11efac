// The account menu is a <details>: close it on Escape and on a click elsewhere.
const menu = document.querySelector("details.menu");
document.addEventListener("click", ({ target }) => {
  if (!menu?.contains(target)) menu?.removeAttribute("open");
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !menu?.open) return;
  menu.open = false;
  menu.firstElementChild.focus();
});
