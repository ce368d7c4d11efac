// The account menu is a <details>: close it on Escape and on a click elsewhere.
const menus = () => document.querySelectorAll("details.menu[open]");
document.addEventListener("click", ({ target }) => {
  for (const menu of menus()) if (!menu.contains(target)) menu.open = false;
});
document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  for (const menu of menus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
