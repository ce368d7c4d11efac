// Says in the page when a passkey was not used: the browser gives no reason, and the button looks dead.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const note = document.getElementById("passkey-refused");
  note.hidden = true; // so that the same words are read out again
  requestAnimationFrame(() => { note.hidden = false; });
});
