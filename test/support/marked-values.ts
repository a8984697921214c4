import { pick, type Random, seeded } from "#rules/detectors/testing/forms.ts";

/** Valid and unique values of the kinds that detectors find, which record where they were placed. */
export interface MarkedValues {
  /** One of each kind. */
  at(place: string): Readonly<Record<Kind, string>>;
  /** Positions and kinds of the values that the text contains, in any encoding. */
  foundIn(text: string): readonly string[];
}

export const KINDS = ["card", "iban", "ssn", "aws_key", "stripe_key", "email", "phone"] as const;
export type Kind = (typeof KINDS)[number];

export function markedValues(seed: number): MarkedValues {
  const random = seeded(seed);
  const all: { readonly mark: string; readonly name: string }[] = [];
  return {
    at: (place) => {
      const values = Object.fromEntries(KINDS.map((kind) => [kind, MAKERS[kind](random)])) as Record<Kind, string>;
      for (const kind of KINDS) for (const mark of writingsOf(values[kind])) all.push({ mark, name: `${kind} of ${place}` });
      return values;
    },
    foundIn: (text) => [...new Set(all.filter(({ mark }) => text.includes(mark)).map(({ name }) => name))],
  };
}

/** A part of a shorter value occurs in many texts. */
const SHORT_CHARS = 16;

/** The value unchanged, as bytes are written in a log or a column, and its longer part, because masks show the ends. */
function writingsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const core = value.length < SHORT_CHARS ? value : value.slice(2, -4);
  return [core, bytes.toString("base64").slice(0, -4), bytes.toString("hex"), encodeURIComponent(core), [...core].toReversed().join("")];
}

const digits = (random: Random, count: number): string => Array.from({ length: count }, () => random(10)).join("");
const chars = (random: Random, alphabet: string, count: number): string =>
  Array.from({ length: count }, () => pick(random, [...alphabet])).join("");

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

const MAKERS: Readonly<Record<Kind, (random: Random) => string>> = {
  card: (random) => withLuhn(`4716${digits(random, 11)}`),
  iban: (random) => {
    const account = `370400440${digits(random, 9)}`;
    // ISO 13616: the letters of DE are 13 and 14.
    const check = 98n - (BigInt(`${account}131400`) % 97n);
    return `DE${String(check).padStart(2, "0")}${account}`;
  },
  ssn: (random) => `${200 + random(400)}-${20 + random(70)}-${1000 + random(8000)}`,
  aws_key: (random) => `AKIA${chars(random, BASE32, 16)}`,
  stripe_key: (random) => `sk_live_${chars(random, `${LETTERS}${LETTERS.toUpperCase()}0123456789`, 24)}`,
  email: (random) => `${chars(random, LETTERS, 8)}.${chars(random, LETTERS, 8)}@${chars(random, LETTERS, 10)}.org`,
  phone: (random) => `+49 30 ${20 + random(70)} ${20 + random(70)} ${20 + random(70)} ${20 + random(70)}`,
};

/** ISO/IEC 7812-1 annex B. */
function withLuhn(number: string): string {
  const sum = [...number].toReversed().reduce((all, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 2 : 1);
    return all + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return number + String((10 - (sum % 10)) % 10);
}
