/**
 * The text without its encodings, one form per removed layer: percent-encoding (`%34`, `%u0034`, a plus for a blank),
 * escapes of JSON and HTML, and digits of other scripts and widths; and what is written in base64 or hexadecimal. Texts and forms have one char per byte, in UTF-8.
 * Returns an empty list for a plain text.
 */
export function plainForms(text: string): readonly string[] {
  const forms: string[] = [];
  let form = text;
  for (let layer = 0; layer < LAYERS_MAX && IS_ENCODED.test(form); layer++) {
    const next = withPlainDigits(withoutLayer(form));
    if (next === form) break;
    forms.push(next);
    form = next;
  }
  const said = new Set([text, ...forms].flatMap((one) => [saidInBase64(one), saidInHex(one)]));
  said.delete("");
  return [...forms, ...said];
}

/**
 * The readable text in runs of base64, in either alphabet; empty if none has any. In base64 of ASCII, a character that is neither letter nor digit
 * ends a group of four, so that the rest still decodes.
 */
function saidInBase64(text: string): string {
  let said = "";
  for (const [run] of text.matchAll(BASE64)) {
    const plain = Buffer.from(run, "base64").toString("latin1");
    for (const [part] of plain.matchAll(READABLE)) said += `${part}\n`;
  }
  return said;
}

/** The readable text in runs of hexadecimal digits, before which a letter from a to f may stand. */
function saidInHex(text: string): string {
  let said = "";
  for (const [run] of text.matchAll(HEX))
    for (let from = run.length % 2; from >= 0; from--)
      for (const [part] of Buffer.from(run.slice(from), "hex").toString("latin1").matchAll(READABLE)) said += `${part}\n`;
  return said;
}

/** At least twelve bytes. */
const HEX = /[0-9A-Fa-f]{24,}/g;

/** As long as the shortest card number in base64. */
const BASE64 = /[A-Za-z0-9]{18,}/g;
const READABLE = /[ -~]{12,}/g;

/** More layers than forwarding programs add to an address; each costs one more pass. */
const LAYERS_MAX = 6;

const IS_ENCODED = /[%+\\&\x80-\xff]/;
const IS_WIDE = /[\x80-\xff]/;
const ENCODED = /\+|%(?:u([0-9a-f]{4})|([0-9a-f]{2}))|\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))|&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));/gi;

const withoutLayer = (text: string): string =>
  text.replace(ENCODED, (whole: string, ...[percentU, percent, escapeU, escapeX, entityX, entity]: readonly (string | undefined)[]) => {
    if (whole === "+") return " ";
    if (percent !== undefined) return String.fromCharCode(Number.parseInt(percent, 16));
    const hex = percentU ?? escapeU ?? escapeX ?? entityX;
    const point = hex === undefined ? Number(entity) : Number.parseInt(hex, 16);
    return point > LAST_POINT ? whole : toBytes(String.fromCodePoint(point));
  });

const LAST_POINT = 0x10ffff;

/** One char per byte. */
const toBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

// linear: pumped
const OTHER_DIGIT = /[^\P{Nd}0-9]/gu;

/** Converts full-width and other compatibility forms (UAX 15), and digits of other decimal scripts. */
function withPlainDigits(text: string): string {
  if (!IS_WIDE.test(text)) return text;
  const said = Buffer.from(text, "latin1").toString("utf8");
  const plain = said.normalize("NFKC").replace(OTHER_DIGIT, plainDigit);
  return plain === said ? text : toBytes(plain);
}

/** Digits have ten consecutive code points, 0 first; some of these rows are adjacent (Unicode 16 §4.6). */
function plainDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let first = point;
  while (point - first < ROWS_MAX * 10 && isDigit(first - 1)) first--;
  return String((point - first) % 10);
}

const ROWS_MAX = 5;
// linear: at most 4 bytes (a code point)
const DIGIT = /\p{Nd}/u;
const isDigit = (point: number): boolean => DIGIT.test(String.fromCodePoint(point));
