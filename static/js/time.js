import { say } from "./words.js";

// Keeps "3 min ago" right, by the server's clock: a wrong clock of this device cannot lie.
let offset = Date.parse(document.querySelector('meta[name="server-time"]').content) - Date.now();
const { zone, hours } = document.documentElement.dataset;

// A page from the browser's store has a moment long past; answers tell newer ones.
export const heard = (date) => {
  const told = Date.parse(date) - Date.now();
  if (Math.abs(told - offset) > 2000) offset = told; // never NaN
};
export const clock = () =>
  new Date(Date.now() + offset).toLocaleTimeString(document.documentElement.lang, {
    timeZone: zone,
    hourCycle: hours === "12" ? "h12" : "h23",
  });

// The same steps as signalbox/words.py.
export const relative = (moment, now) => {
  const seconds = (moment - now) / 1000;
  if (Math.abs(seconds) < 5) return say("now");
  const [s, min, h, days] = [1, 60, 3600, 86400].map((unit) => Math.floor(Math.abs(seconds) / unit + 0.5));
  const [unit, n] = s < 60 ? ["s", s] : min < 60 ? ["min", min] : h < 48 ? ["h", h] : ["days", days];
  return say(`${seconds > 0 ? "in" : "ago"}_${unit}`, { n });
};

const refresh = (where = "") => {
  const now = Date.now() + offset;
  for (const time of document.querySelectorAll(`${where}time[data-relative]`)) {
    const words = relative(Date.parse(time.dateTime), now);
    if (time.textContent !== words) time.textContent = words;
  }
};
setInterval(refresh, 5_000);
setInterval(refresh, 1000, "[data-ticks] ");
document.addEventListener("visibilitychange", () => refresh());
document.addEventListener("htmx:afterSwap", () => refresh()); // what has not changed comes from the store

// On the settings page: offer the zone that this device is set to.
const offer = document.querySelector("[data-zone-of-device]");
const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
const select = offer && document.getElementById(offer.dataset.zoneOfDevice);
if (select?.querySelector(`[value="${here}"]`) && select.value !== here) {
  offer.textContent = say("zone", { zone: here });
  offer.hidden = false;
  offer.onclick = () => {
    select.value = here;
    offer.hidden = true;
    select.focus();
  };
}
