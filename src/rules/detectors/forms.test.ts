import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 as crc } from "node:zlib";
import { luhn } from "#rules/detectors/checks/checks.ts";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import type { Detector } from "#rules/detectors/engine/detector.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";
import { hasCrcSuffix } from "#rules/detectors/checks/secret-checks.ts";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { pick, type Random, seeded, SURROUNDINGS, textOf } from "#rules/detectors/testing/forms.ts";

// Random values in every surrounding, which stand for values in other people's bodies.
const compiled = compileDetectors(DETECTORS.filter((detector) => detector.enabled));
const ROUNDS = 15;

const found = (text: string, id: string): boolean => scanText(compiled, text).findings.some(({ detector }) => detector.id.startsWith(id));
const digits = (random: Random, count: number): string => Array.from({ length: count }, () => random(10)).join("");

/** The share of made values that is found. */
function recall(
  id: string,
  word: string,
  make: (random: Random) => string,
): { readonly share: number; readonly missed: readonly string[] } {
  const random = seeded(id.length * 7919 + 17);
  const missed: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const surround of SURROUNDINGS) {
      const text = surround(make(random), word);
      if (!found(text, id)) missed.push(text);
    }
  }
  return { share: 1 - missed.length / (ROUNDS * SURROUNDINGS.length), missed };
}

const grouped = (text: string, sizes: readonly number[], separator: string): string => {
  let at = 0;
  return sizes.map((size) => text.slice(at, (at += size))).join(separator);
};

const SEPARATORS = ["", "", " ", " ", "-", "&nbsp;", "\u00a0", "\u202f", "\u2011", "&#160;", "&#xA0;", "&#8209;", "\\u00a0", "%20", "+"];

function card(random: Random): string {
  const [prefix, length] = pick(random, [
    ["4", 16],
    ["51", 16],
    ["55", 16],
    ["2221", 16],
    ["34", 15],
    ["37", 15],
    ["6011", 16],
    ["3530", 16],
    ["36", 14],
    ["62", 16],
  ] as const);
  const body = prefix + digits(random, length - prefix.length - 1);
  const number = body + [..."0123456789"].find((check) => luhn(body + check));
  const sizes = length === 15 ? [4, 6, 5] : length === 14 ? [4, 6, 4] : [4, 4, 4, 4];
  return grouped(number, sizes, pick(random, SEPARATORS));
}

const IBANS = [
  "DEkkdddddddddddddddddd",
  "GBkkaaaadddddddddddddd",
  "FRkkddddddddddcccccccccccdd",
  "NLkkaaaadddddddddd",
  "CHkkdddddcccccccccccc",
  "NOkkddddddddddd",
  "MTkkaaaadddddcccccccccccccccccc",
  "BRkkdddddddddddddddddddddddac",
  "PLkkdddddddddddddddddddddddd",
  "SAkkddcccccccccccccccccc",
  "QAkkaaaaccccccccccccccccccccc",
  "LCkkaaaacccccccccccccccccccccccc",
  "TRkkdddddxcccccccccccccccc",
];

function iban(random: Random): string {
  const upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const form = pick(random, IBANS);
  const body = [...form.slice(4)]
    .map((kind) =>
      kind === "a"
        ? pick(random, [...upper])
        : kind === "c"
          ? pick(random, [...upper, ..."0123456789"])
          : kind === "x"
            ? "0"
            : String(random(10)),
    )
    .join("");
  const turned = [...`${body}${form.slice(0, 2)}00`].map((char) => Number.parseInt(char, 36)).join("");
  const check = String(98n - (BigInt(turned) % 97n)).padStart(2, "0");
  const whole = form.slice(0, 2) + check + body;
  const separator = pick(random, SEPARATORS);
  return (whole.match(/.{1,4}/g) ?? []).join(separator);
}

function ssn(random: Random): string {
  for (;;) {
    const number = digits(random, 9);
    if (/^(?:000|666|9)|^...00|0000$/.test(number)) continue;
    return grouped(
      number,
      [3, 2, 4],
      pick(random, ["-", "-", "-", " ", ".", "", "&nbsp;", "\u2011", "&#8209;", "&ndash;", "&#160;", "%20"]),
    );
  }
}

for (const [id, word, bar, make] of [
  ["fin.card_", "card number", 0.97, card],
  ["fin.iban", "iban", 0.97, iban],
  ["pii.ssn_us", "SSN", 0.95, ssn],
  ["pii.ssn_us", "Social Security Number", 0.95, ssn],
  ["pii.ssn_us", "socialSecurityNumber", 0.95, ssn],
] as const) {
  test(`recall of ${id} beside "${word}" on random numbers`, (t) => {
    const { share, missed } = recall(id, word, make);
    t.diagnostic(`${id} "${word}": ${(100 * share).toFixed(1)} %`);
    assert.ok(share >= bar, `${share}: ${missed.slice(0, 5).join(" | ")}`);
  });
}

/** Tokens of some services end with a checksum of the rest. */
function secretOf(detector: Detector, random: Random): string {
  const make = MAKERS.get(detector.id);
  if (make !== undefined) return make(random);
  const [pattern] = detector.patterns;
  assert.ok(pattern instanceof RegExp);
  const text = textOf(pattern.source, random);
  return CHECKED.has(detector.id) ? crcSuffixed(text) : text;
}

const CHECKED = new Set(DETECTORS.filter((detector) => detector.accepts === hasCrcSuffix).map(({ id }) => id));

function crcSuffixed(text: string): string {
  const base = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const head = text.slice(0, -6);
  // The check itself says which suffix fits.
  let rest = crc(head.slice(-30));
  let suffix = "";
  for (let place = 0; place < 6; place++) {
    suffix = (base[rest % 62] as string) + suffix;
    rest = Math.floor(rest / 62);
  }
  return head + suffix;
}

test("recall of each secret on random values", (t) => {
  const shares = DETECTORS.filter(({ category, enabled }) => category === "secrets" && enabled).map((detector) => {
    const word = detector.context?.[0] ?? "token";
    const { share, missed } = recall(detector.id, word, (random) => secretOf(detector, random));
    return { id: detector.id, share, missed: missed[0] ?? "" };
  });
  const worst = shares.toSorted((a, b) => a.share - b.share).filter(({ share }) => share < 1);
  t.diagnostic(`${shares.length} kinds of secrets, ${shares.length - worst.length} of them wholly found`);
  for (const { id, share, missed } of worst) t.diagnostic(`${id}: ${(100 * share).toFixed(1)} %, such as ${missed.slice(0, 160)}`);
  assert.deepEqual(
    worst.filter(({ share }) => share < 0.95).map(({ id }) => id),
    [],
  );
});

const WORDS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const word = (random: Random, count: number, alphabet = WORDS): string =>
  Array.from({ length: count }, () => pick(random, [...alphabet])).join("");
const HEX = "0123456789abcdef";
const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Makers for detectors whose patterns are wider than the accepted texts. */
const MAKERS: ReadonlyMap<string, (random: Random) => string> = new Map([
  [
    "secret.jwt",
    (random: Random) =>
      `${base64url({ alg: pick(random, ["HS256", "RS256", "ES256"]), typ: "JWT" })}.${base64url({ sub: word(random, 9), exp: random(2e9) })}.${word(random, 43)}`,
  ],
  [
    "secret.ghost_key",
    (random: Random) => `ghost ${pick(random, [`${word(random, 24, HEX)}:${word(random, 64, HEX)}`, word(random, 26, HEX)])}`,
  ],
  ["secret.postmark_token", (random: Random) => `Postmark-Token: ${[8, 4, 4, 4, 12].map((count) => word(random, count, HEX)).join("-")}`],
  ["secret.webhook_secret", (random: Random) => `whsec_${Buffer.from(word(random, 32)).toString("base64")}`],
  [
    "secret.discord_bot_token",
    (random: Random) =>
      `${Buffer.from(`${1 + random(9)}${digits(random, 17)}`).toString("base64url")}.${word(random, 6)}.${word(random, pick(random, [27, 38]))}`,
  ],
  [
    "secret.aws_secret_access_key",
    (random: Random) =>
      `${pick(random, ["aws_secret_access_key = ", 'AWS_SECRET_ACCESS_KEY="', "SecretAccessKey: "])}${word(random, 40, `${WORDS}+/`)}`,
  ],
  [
    "secret.connection_string",
    (random: Random) =>
      `${pick(random, ["postgres", "mysql", "mongodb+srv", "redis", "amqps"])}://${word(random, 6)}:${word(random, 14)}@db.${word(random, 5).toLowerCase()}.internal:5432/shop`,
  ],
  [
    "secret.url_credentials",
    (random: Random) => `https://${word(random, 6)}:${word(random, 16)}@git.${word(random, 5).toLowerCase()}.test/app.git`,
  ],
  [
    "secret.generic_key",
    (random: Random) =>
      `${pick(random, ["api_key = ", "apiKey: ", "client_secret=", "ACCESS_TOKEN=", "auth_token => "])}${pick(random, ["", "'"])}${word(random, 32)}`,
  ],
  [
    "secret.wordpress_config",
    (random: Random) => `define('${pick(random, ["DB_PASSWORD", "AUTH_KEY", "NONCE_KEY"])}', '${word(random, 20)}7');`,
  ],
  [
    "secret.connection_password",
    (random: Random) => `Server=db;User Id=app${pick(random, [";Password=", "&password="])}${word(random, 15)}7`,
  ],
  [
    "secret.authorization",
    (random: Random) => pick(random, [`Bearer ${word(random, 40)}`, `Basic ${Buffer.from(`svc:${word(random, 17)}7`).toString("base64")}`]),
  ],
  [
    "secret.putty_key",
    (random: Random) => `PuTTY-User-Key-File-3: ssh-rsa\r\nEncryption: none\r\nComment: ${word(random, 9)}\r\nPublic-Lines: 6`,
  ],
  [
    "secret.private_key",
    (random: Random) => `-----BEGIN ${pick(random, ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])}PRIVATE KEY-----\n${word(random, 64)}\n`,
  ],
]);
