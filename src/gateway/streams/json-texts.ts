import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { Work } from "#kernel/process/slices.ts";
import { CONTAINERS_MAX } from "#gateway/http/json.ts";
import { JsonStrings } from "./json-strings.ts";
import { behindFile, DEPTH_MAX, isFact, isFile, KEY_CHARACTERS_MAX, NESTED_MAX } from "./text-extraction.ts";

/** Reads the next bytes of the text; returns the cost in microseconds. */
export type TakeText = (bytes: Buffer) => number;

/** The value is JSON, but too deep, of too many parts or with too long a number to be inspected. */
export class UninspectableError extends Error {}

/** Microseconds for a blank or a mark of punctuation. */
const TOKEN_COST = 1 / 40;
/** Microseconds of work between two reports of the cost, because each report has a cost too. */
const REPORTED_COST = 200;
const NUMBER_BYTES_MAX = 1024;

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const IN_NUMBER: ReadonlySet<number | undefined> = new Set(Buffer.from("0123456789.eE+-"));
/** By their first letter. */
const WORDS: ReadonlyMap<number | undefined, string> = new Map(["true", "false", "null"].map((word) => [word.charCodeAt(0), word]));
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x0a, 0x0d, 0x09]);
const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const OPENERS: ReadonlyMap<number | undefined, { readonly isList: boolean; readonly closer: number }> = new Map([
  [0x5b, { isList: true, closer: 0x5d }],
  [0x7b, { isList: false, closer: 0x7d }],
]);

/**
 * Equals `allText` for a long JSON text, but in steps and without the value in memory. Returns false for bytes that are
 * not a JSON object or array; then nothing was read. A duplicate member is read twice. Throws UninspectableError,
 * possibly after some of the text was read.
 */
export function* jsonTexts(bytes: Buffer, take: TakeText): Work<boolean> {
  if (!(yield* walk(bytes, undefined, 0, 0))) return false;
  let isFirst = true;
  const takeLine: TakeText = (line) => {
    const cost = isFirst ? 0 : take(LINE_END);
    isFirst = false;
    return cost + take(line);
  };
  yield* walk(bytes, { line: takeLine, more: take }, 0, 0);
  return true;
}

/** Equals `plainText` for a long text, in the same steps; also takes objects below members that are not texts. */
export function* jsonPlainTexts(bytes: Buffer, take: TakeText): Work<boolean> {
  if (!(yield* walk(bytes, undefined, 0, 0))) return false;
  const takeText: TakeText = (text) => take(SPACE) + take(text);
  yield* walk(bytes, { line: takeText, more: take, isPlain: true }, 0, 0);
  return true;
}

const LINE_END = Buffer.from("\n");
const SPACE = Buffer.from(" ");

interface Taker {
  /** Starts a new line. */
  readonly line: TakeText;
  /** Continues it. */
  readonly more: TakeText;
  /** Only what a model wrote or read: no keys, no numbers, no facts about an answer and no files. */
  readonly isPlain?: true;
}

/** The next token that is allowed in the text. */
type Place = "value" | "first item" | "first key" | "key" | "after";

/** Without `taker` it only tests whether the bytes are an object or an array. */
function* walk(bytes: Buffer, taker: Taker | undefined, baseDepth: number, nested: number): Work<boolean> {
  const strings = new JsonStrings(bytes);
  const isPlain = taker?.isPlain === true;
  const labels = isPlain ? undefined : taker;
  const open: { readonly isList: boolean; readonly closer: number; readonly key: string }[] = [];
  let [place, key, at, containers, cost]: [Place, string, number, number, number] = ["value", "", 0, 0, 0];
  for (;;) {
    cost += TOKEN_COST;
    if (cost >= REPORTED_COST) {
      yield cost;
      cost = 0;
    }
    const byte = bytes[at];
    if (byte === undefined) return place === "after" && open.length === 0;
    if (SPACES.has(byte)) {
      at++;
      continue;
    }
    const inner = open.at(-1);
    if (place === "after") {
      if (inner === undefined) return false;
      at++;
      if (byte === inner.closer) open.pop();
      else if (byte !== COMMA) return false;
      else if (inner.isList) [place, key] = ["value", inner.key];
      else place = "key";
      continue;
    }
    if (byte === inner?.closer && (place === "first item" || place === "first key")) {
      at++;
      open.pop();
      place = "after";
      continue;
    }
    if (place === "first key" || place === "key") {
      if (byte !== QUOTE) return false;
      strings.begin(at + 1);
      const first = strings.next();
      if (first === undefined) return false;
      const isShort = strings.isOver && first.length <= KEY_CHARACTERS_MAX;
      key = isShort ? first : "";
      if (!isShort) {
        cost += labels?.line(Buffer.from(first)) ?? 0;
        while (!strings.isOver) {
          const piece = strings.next();
          if (piece === undefined) return false;
          cost += strings.cost + (labels?.more(Buffer.from(piece)) ?? 0);
          yield cost;
          cost = 0;
        }
      }
      at = strings.at;
      while (SPACES.has(bytes[at])) if ((++at & 0xfff) === 0) yield REPORTED_COST;
      if (bytes[at++] !== COLON) return false;
      place = "value";
      continue;
    }
    if (taker !== undefined && baseDepth + open.length > DEPTH_MAX) throw new UninspectableError("a value is nested too deeply");
    place = "after";
    const opener = OPENERS.get(byte);
    if (opener !== undefined) {
      if (++containers > CONTAINERS_MAX) throw new UninspectableError("the text has too many objects and arrays");
      at++;
      open.push({ ...opener, key });
      place = opener.isList ? "first item" : "first key";
      continue;
    }
    if (open.length === 0) return false;
    if (byte !== QUOTE) {
      const token = scalarAt(bytes, at);
      if (token === undefined) return false;
      at += token.length;
      if (!WORDS.has(byte)) cost += labels?.line(Buffer.from(`${key}: ${Number(token)}`)) ?? 0;
      continue;
    }
    strings.begin(at + 1);
    const nestedText = new NestedText(nested < NESTED_MAX && labels !== undefined);
    const isTaken = taker !== undefined && !(isPlain && isFact(key));
    let [isFirst, isNewLine, isInFile] = [true, true, false];
    do {
      const piece = strings.next();
      if (piece === undefined) return false;
      cost += strings.cost;
      if (isFirst && isPlain) isInFile = isFile(piece);
      const said = isInFile ? behindFile(piece, isFirst) : piece;
      isInFile &&= said === "";
      isFirst = false;
      if (isTaken && !(isPlain && said === "")) {
        const text = Buffer.from(isNewLine && key !== "" && !isPlain ? `${key}: ${said}` : said);
        cost += isNewLine ? taker.line(text) : taker.more(text);
        isNewLine = false;
        nestedText.push(said);
      }
      if (cost >= REPORTED_COST) {
        yield cost;
        cost = 0;
      }
    } while (!strings.isOver);
    at = strings.at;
    const text = nestedText.take();
    if (text === undefined || taker === undefined) continue;
    const depth = baseDepth + open.length + 1;
    if (yield* walk(text, undefined, depth, nested + 1)) yield* walk(text, taker, depth, nested + 1);
  }
}

/** The number or word at this position; undefined if it is neither. */
function scalarAt(bytes: Buffer, at: number): string | undefined {
  const word = WORDS.get(bytes[at]);
  if (word !== undefined) return bytes.toString("latin1", at, at + word.length) === word ? word : undefined;
  let end = at;
  while (IN_NUMBER.has(bytes[end])) if (++end - at > NUMBER_BYTES_MAX) throw new UninspectableError("a number is too long");
  const number = bytes.toString("latin1", at, end);
  return NUMBER.test(number) ? number : undefined;
}

/** Gathers a string if it may be JSON itself. */
class NestedText {
  readonly #gathered = new GatheredBytes();
  #state: "unknown" | "gathering" | "other";

  constructor(isWanted: boolean) {
    this.#state = isWanted ? "unknown" : "other";
  }

  push(piece: string): void {
    if (this.#state === "other") return;
    if (this.#state === "unknown") {
      const first = /[^ \t\r\n]/.exec(piece)?.[0];
      if (first !== undefined) this.#state = first === "{" || first === "[" ? "gathering" : "other";
    }
    // Blanks before it are not needed.
    if (this.#state === "gathering") this.#gathered.push(Buffer.from(piece));
  }

  take(): Buffer | undefined {
    return this.#state === "gathering" ? this.#gathered.take() : undefined;
  }
}
