// What scripts say, in the reader's language: the page brings it, as signalbox/words.py has it.
const words = JSON.parse(document.querySelector('meta[name="words"]')?.content ?? "{}");
export const say = (name, values = {}) => (words[name] ?? "").replace(/{(\w+)}/g, (_, key) => values[key]);
