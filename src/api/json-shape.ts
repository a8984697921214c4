/** Limits of a JSON text: the depth of its arrays and objects, its values, and the members of one object. */
export interface ShapeLimits {
  readonly depthMax: number;
  readonly valuesMax: number;
  readonly membersMax: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * The limit that a JSON text exceeds. Runs before the text is parsed, since that takes 20 times as long for millions of
 * small values, and nothing else runs meanwhile. Finds nothing in texts that the parser refuses early.
 */
export function exceededLimit(
  json: Uint8Array,
  { depthMax, valuesMax, membersMax }: ShapeLimits,
): "depth" | "values" | "members" | undefined {
  /** Of each open array and object: members so far, or -1 in an array. */
  const members = new Int32Array(depthMax + 1).fill(-1);
  let depth = 0;
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]!;
    if (byte === QUOTE) at = stringEnd(json, at + 1);
    else if (byte === COMMA) {
      values += 1;
      if (members[depth]! >= 0 && ++members[depth]! > membersMax) return "members";
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > depthMax) return "depth";
      const isEmpty = isClosedNext(json, at + 1);
      members[depth] = byte === OPEN_ARRAY ? -1 : isEmpty ? 0 : 1;
      if (!isEmpty) values += 1;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      if (--depth < 0) return undefined;
    }
    if (values > valuesMax) return "values";
  }
  return undefined;
}

/** The place of the quote that ends a string. */
function stringEnd(json: Uint8Array, start: number): number {
  let at = start;
  while (at < json.length && json[at] !== QUOTE) at += json[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Whether the array or object ends without a value. White space is rarely long, and counts once for each of them only. */
function isClosedNext(json: Uint8Array, start: number): boolean {
  let at = start;
  while (json[at] === 0x20 || json[at] === 0x0a || json[at] === 0x0d || json[at] === 0x09) at += 1;
  return json[at] === CLOSE_ARRAY || json[at] === CLOSE_OBJECT;
}
