// Goes on to the next step by itself, while "#seconds" stands in the address. Not for who wants less
// motion.
const box = document.querySelector("[data-replay]");
const next = document.querySelector('a[rel="next"]');
if (box && next && !matchMedia("(prefers-reduced-motion: reduce)").matches) {
  const [speed, button] = box.querySelectorAll("select, button");
  let timer = 0;
  const play = (on) => {
    clearTimeout(timer);
    timer = on && setTimeout(() => location.assign(`${next.href}#${speed.value}`), speed.value * 1000);
    button.textContent = box.dataset[on ? "stop" : "play"];
  };
  button.onclick = () => play(!timer);
  speed.onchange = () => play(timer);
  const asked = location.hash.slice(1);
  if (asked) speed.value = asked;
  play(speed.selectedIndex >= 0 && asked);
  box.hidden = false;
}
