import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** One place of a log; `value` is undefined if it is not JSON. */
export interface LogEntry {
  readonly value: unknown;
  /** The line, or the number of the entry in a file that is one list. */
  readonly at: string;
}

/** Limit of a line, and of a file that is one document. */
const LINE_CHARACTERS_MAX = 1_048_576;
const DOCUMENT_CHARACTERS_MAX = 268_435_456;

/** Entries of a file with a JSON object in each line, or of one that is a list of them or an HTTP Archive. */
export async function* logEntries(input: Readable): AsyncGenerator<LogEntry> {
  let document: string[] | undefined;
  let [number, size] = [0, 0];
  for await (const raw of createInterface({ input, crlfDelay: Infinity })) {
    number++;
    const text = number === 1 && raw.startsWith("\uFEFF") ? raw.slice(1) : raw;
    if (document !== undefined && size <= DOCUMENT_CHARACTERS_MAX) {
      document.push(text);
      size += text.length;
      continue;
    }
    if (text.trim() === "") continue;
    const value = number === 1 || text.length <= LINE_CHARACTERS_MAX ? parsed(text) : undefined;
    // A pretty-printed document begins with a line that is no JSON itself.
    if (number === 1 && value === undefined && /^\s*[[{]/.test(text)) document = [text];
    else if (number === 1 && isDocument(value)) yield* entriesIn(value);
    else yield { value, at: `line ${number}` };
  }
  if (document === undefined) return;
  const whole = parsed(document.join("\n"));
  if (isDocument(whole)) yield* entriesIn(whole);
  else if (whole !== undefined) yield { value: whole, at: "line 1" };
  else for (const [at, text] of document.entries()) if (text.trim() !== "") yield { value: parsed(text), at: `line ${at + 1}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Document = readonly unknown[] | { readonly log: { readonly entries: readonly unknown[] } };

const isDocument = (value: unknown): value is Document =>
  Array.isArray(value) || Array.isArray((value as { readonly log?: { readonly entries?: unknown } } | null | undefined)?.log?.entries);

function* entriesIn(document: Document): Generator<LogEntry> {
  const entries = "log" in document ? document.log.entries : document;
  for (const [at, value] of entries.entries()) yield { value, at: `entry ${at + 1}` };
}
