/** `%41` as `A`; what is no escape stays as it is. */
export function decodePercent(text: string): string {
  return text.includes("%") ? text.replace(/%([0-9A-Fa-f]{2})/g, (_whole, hex: string) => byte(hex)) : text;
}

const byte = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16));

export interface UrlDecoding {
  /** Again, until nothing is left to decode. */
  readonly recursive: boolean;
  /** `%u2601` too, as UTF-8. */
  readonly unicode: boolean;
}

// Each round makes the text shorter or ends; a text that was encoded more often is an attack by itself.
const ROUNDS_MAX = 16;

/** `%41` and `+`, and by `decoding` more. */
export function decodeUrl(text: string, decoding: UrlDecoding): string {
  let decoded = once(text, decoding.unicode);
  if (!decoding.recursive) return decoded;
  for (let round = 1, before = text; round < ROUNDS_MAX && decoded !== before; round++) {
    before = decoded;
    decoded = once(decoded, decoding.unicode);
  }
  return decoded;
}

function once(text: string, unicode: boolean): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!unicode || !spaced.includes("%u")) return decodePercent(spaced);
  return spaced.replace(/%u([0-9A-Fa-f]{4})|%([0-9A-Fa-f]{2})/g, (_whole, point: string | undefined, hex: string | undefined) =>
    point === undefined ? byte(hex ?? "00") : Buffer.from(String.fromCharCode(Number.parseInt(point, 16)), "utf8").toString("latin1"),
  );
}

/** The query without the arguments of these names, the others in their order. */
export function removeQueryArguments(query: string, names: ReadonlySet<string>): string {
  if (query === "") return query;
  return query
    .split("&")
    .filter((pair) => {
      const equals = pair.indexOf("=");
      return !names.has(equals === -1 ? pair : pair.slice(0, equals));
    })
    .join("&");
}
