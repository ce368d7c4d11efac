// A poll that finds the session ended does not take away a page on which something is typed: sent,
// it is kept on the server, and its writer signs in and comes back to it (accounts/drafts.py).
const typed = () =>
  [...document.querySelectorAll("main :is(textarea, input:not([type=hidden]))")].some((field) =>
    field.type === "radio" || field.type === "checkbox"
      ? field.checked !== field.defaultChecked
      : field.value !== field.defaultValue);
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { xhr } = event.detail;
  if (xhr.status !== 401 || !typed()) return;
  event.preventDefault();
  if (document.getElementById("signed-out")) return;
  document.getElementById("main").insertAdjacentHTML("afterbegin", `<div id="signed-out" role="alert">${xhr.responseText}</div>`);
});
