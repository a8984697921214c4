/**
 * What a text says without its encodings, one form for each layer that was taken off: percent-encoding (`%34`, `%u0034`, a plus for a
 * blank), escapes of JSON and HTML, and digits of other scripts and widths. Texts and forms have one char a byte, of UTF-8.
 * Gives nothing for a text that is plain already.
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
  return forms;
}

/** More than programs that hand an address on wrap around it; each costs one more look at the text. */
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

/** One char a byte. */
const toBytes = (text: string): string => Buffer.from(text, "utf8").toString("latin1");

// linear: pumped
const OTHER_DIGIT = /[^\P{Nd}0-9]/gu;

/** Of full width and other compatibility forms (UAX 15), and of the other scripts that count by tens. */
function withPlainDigits(text: string): string {
  if (!IS_WIDE.test(text)) return text;
  const said = Buffer.from(text, "latin1").toString("utf8");
  const plain = said.normalize("NFKC").replace(OTHER_DIGIT, plainDigit);
  return plain === said ? text : toBytes(plain);
}

/** Digits stand in rows of ten, 0 first; some rows touch each other (Unicode 16 §4.6). */
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
