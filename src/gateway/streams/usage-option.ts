import type { AnswerHead, AnswerTransform } from "#gateway/request/plan.ts";
import { objectOf, parsedJson } from "#gateway/http/json.ts";

/** Every request for a stream contains it, in any spacing. */
const STREAM = Buffer.from('"stream"');
const BRACE = 0x7b;
const ASKED = Buffer.from('"stream_options":{"include_usage":true},');

/**
 * The body of a streamed chat completion with `include_usage` added; undefined if it already has that, does not ask for a
 * stream, or is not a chat completion. UsageFilter removes the additional counts from the answer.
 */
export function requestUsage(bytes: Buffer): Buffer | undefined {
  if (!bytes.includes(STREAM)) return undefined;
  const body = objectOf(parsedJson(bytes.toString("utf8")));
  if (body?.["stream"] !== true) return undefined;
  const options = objectOf(body["stream_options"]);
  if (options?.["include_usage"] === true) return undefined;
  if ("stream_options" in body) return Buffer.from(JSON.stringify({ ...body, stream_options: { ...options, include_usage: true } }));
  const start = bytes.indexOf(BRACE) + 1;
  return Buffer.concat([bytes.subarray(0, start), ASKED, bytes.subarray(start)]);
}

const USAGE = Buffer.from('"usage"');
const NULL = Buffer.from(":null");
const LF = 0x0a;
const COMMA = 0x2c;
/** A larger event passes unchanged, because counts are in small ones. */
const EVENT_BYTES_MAX = 256 * 1024;

/**
 * Removes the counts from a stream for a client that did not ask for them: the event that has only them, and the member
 * in other events.
 */
export class UsageFilter implements AnswerTransform {
  readonly #isAsked: boolean;
  /** Incomplete lines. */
  #held: Buffer[] = [];
  #heldBytes = 0;

  /**
   * `isAsked`: whether the gateway asked for the counts. Counts that a provider sends by itself stay, except in events
   * without a choice, which break clients.
   */
  constructor(isAsked = true) {
    this.#isAsked = isAsked;
  }

  head(head: AnswerHead): AnswerHead {
    return head;
  }

  chunk(bytes: Buffer): Buffer | undefined {
    const isWhole = bytes[bytes.length - 1] === LF;
    if (this.#heldBytes === 0 && isWhole) return stripped(bytes, this.#isAsked);
    const end = bytes.lastIndexOf(LF) + 1;
    const lines = end === 0 ? undefined : stripped(Buffer.concat([...this.#taken(), bytes.subarray(0, end)]), this.#isAsked);
    if (end < bytes.length) this.#held.push(bytes.subarray(end));
    this.#heldBytes += bytes.length - end;
    if (this.#heldBytes <= EVENT_BYTES_MAX) return lines;
    return Buffer.concat(lines === undefined ? this.#taken() : [lines, ...this.#taken()]);
  }

  end(): Buffer | undefined {
    return this.#heldBytes === 0 ? undefined : stripped(Buffer.concat(this.#taken()), this.#isAsked);
  }

  #taken(): readonly Buffer[] {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    return held;
  }
}

/** Filters complete lines; an event of these streams is one line, and the empty line after a removed one is removed too. */
function stripped(bytes: Buffer, isAsked: boolean): Buffer {
  const short = isAsked ? withoutNull(bytes) : bytes.includes(USAGE) ? undefined : bytes;
  if (short !== undefined) return short;
  const kept = bytes
    .toString("utf8")
    .split(/(?<=\n)/)
    .map((line) => (line.startsWith("data:") && line.includes('"usage"') ? strippedLine(line, isAsked) : line));
  return Buffer.from(kept.filter((line, i) => line !== "" && !(kept[i - 1] === "" && line.trim() === "")).join(""));
}

/** Handles nearly all events without parsing them: removes null counts; undefined if they hold counts. */
function withoutNull(bytes: Buffer): Buffer | undefined {
  const kept: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(USAGE); at >= 0; at = bytes.indexOf(USAGE, from)) {
    const end = at + USAGE.length + NULL.length;
    if (bytes[at - 1] !== COMMA || bytes.compare(NULL, 0, NULL.length, at + USAGE.length, Math.min(end, bytes.length)) !== 0)
      return undefined;
    kept.push(bytes.subarray(from, at - 1));
    from = end;
  }
  if (from === 0) return bytes;
  kept.push(bytes.subarray(from));
  return Buffer.concat(kept);
}

function strippedLine(line: string, isAsked: boolean): string {
  const shortened = line.replace(/,\s*"usage"\s*:\s*null/, "");
  if (!shortened.includes('"usage"')) return isAsked ? shortened : line;
  const { usage, ...rest } = objectOf(parsedJson(line.slice("data:".length))) ?? {};
  const { choices } = rest;
  if (Array.isArray(choices) ? choices.length === 0 && usage !== undefined : choices === undefined && objectOf(usage) !== undefined)
    return "";
  return choices === undefined || !isAsked ? line : `data: ${JSON.stringify(rest)}\n`;
}
