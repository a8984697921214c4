/** Returns a number below the bound; the sequence depends only on the seed. */
export type Random = (below: number) => number;

/** A linear congruential generator of 32 bits (Numerical Recipes §7.1). */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)] as T;

/** A text that the pattern matches, for the syntax of detectors; look-aheads are ignored. */
export function textOf(source: string, random: Random): string {
  let at = 0;
  const choice = (): string => {
    const options = [sequence()];
    while (source[at] === "|") {
      at++;
      options.push(sequence());
    }
    return pick(random, options);
  };
  const sequence = (): string => {
    let text = "";
    while (at < source.length && source[at] !== "|" && source[at] !== ")") text += repeated();
    return text;
  };
  const repeated = (): string => {
    const start = at;
    let text = atom();
    const end = at;
    const [least, most] = quantifier();
    const count = least + random(Math.min(most, least + 40) - least + 1);
    const after = at;
    if (count === 0) text = "";
    for (let done = 1; done < count; done++) {
      at = start;
      text += atom();
    }
    at = Math.max(end, after);
    return text;
  };
  const quantifier = (): readonly [number, number] => {
    const simple: Readonly<Record<string, readonly [number, number]>> = { "?": [0, 1], "*": [0, 8], "+": [1, 8] };
    const one = simple[source[at] ?? ""];
    if (one !== undefined) {
      at++;
      return one;
    }
    const counted = /^\{(\d+)(,?)(\d*)\}/.exec(source.slice(at));
    if (counted === null) return [1, 1];
    at += counted[0].length;
    const least = Number(counted[1]);
    return [least, counted[2] === "" ? least : counted[3] === "" ? least + 8 : Number(counted[3])];
  };
  const atom = (): string => {
    const char = source[at++] ?? "";
    if (char === "(") {
      const ahead = source.startsWith("?!", at) || source.startsWith("?=", at);
      if (source[at] === "?") at += 2;
      const text = choice();
      at++;
      return ahead ? "" : text;
    }
    if (char === "[") return pick(random, charactersOf());
    if (char === "\\") return pick(random, escaped(source[at++] ?? ""));
    return char === "^" || char === "$" ? "" : char === "." ? "x" : char;
  };
  const charactersOf = (): readonly string[] => {
    const isNegated = source[at] === "^";
    if (isNegated) at++;
    const set: string[] = [];
    while (source[at] !== "]") {
      const char = source[at++] ?? "";
      if (char === "\\") set.push(...escaped(source[at++] ?? ""));
      else if (source[at] === "-" && source[at + 1] !== "]") {
        for (let code = char.charCodeAt(0); code <= (source.charCodeAt(at + 1) || 0); code++) set.push(String.fromCharCode(code));
        at += 2;
      } else set.push(char);
    }
    at++;
    return isNegated ? [...WORD].filter((char) => !set.includes(char)) : set;
  };
  return choice();
}

const WORD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const escaped = (char: string): readonly string[] =>
  char === "d"
    ? [..."0123456789"]
    : char === "w"
      ? [...WORD, "_"]
      : char === "s"
        ? [" "]
        : char === "n"
          ? ["\n"]
          : char === "b"
            ? [""]
            : [char];

/** Surroundings of a value in a body, with the word that names it. */
export const SURROUNDINGS: readonly ((value: string, word: string) => string)[] = [
  (value, word) => `${word}: ${value}`,
  (value, word) => `{"${word.toLowerCase().replaceAll(" ", "_")}":"${value}","ok":true}`,
  (value, word) => JSON.stringify({ items: [{ [word]: value, n: 1 }] }, null, 2),
  (value, word) => `<tr><td>${word}</td><td>${value}</td></tr>`,
  (value, word) => `<p>Your ${word} is <b>${value}</b>.</p>`,
  (value, word) => `<customer><${word.replaceAll(" ", "")}>${value}</${word.replaceAll(" ", "")}></customer>`,
  (value, word) => `id,${word},note\n17,${value},none\n`,
  (value, word) => `Please note the ${word} ${value}, which ends soon.`,
  (value, word) => `${word}=${value}&next=1`,
  (value, word) => `${word} "${value}"\r\n`,
  (value, word) => `# ${word}\n  - ${value}\n`,
  (value, word) => `(${word}) (${value})`,
  (value, word) => `<dt class="col-sm-3 text-muted">${word}</dt>\n  <dd class="col-sm-9 font-monospace" data-field-id="8812">${value}</dd>`,
];
