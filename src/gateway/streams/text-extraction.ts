import { EventStreamReader } from "#wire/http/event-stream.ts";
import { listOf, objectOf, parsedJson, scannedJson } from "#gateway/http/json.ts";

/** A text in a JSON value and its channel, which names the same place in each event of a stream. */
export interface FoundText {
  readonly channel: string;
  readonly text: string;
}

/** No request or answer is nested deeper; a deeper value is not inspected, so it must not pass. */
export const DEPTH_MAX = 64;
/** JSON inside a string, as in arguments of tool calls. */
export const NESTED_MAX = 3;
/** A longer key has a separate line, because it would be repeated before each item of a list. */
export const KEY_CHARACTERS_MAX = 128;

export class TooDeepError extends Error {}

/** Every text in the value with the keys that lead to it, because words beside a number say what it is. Throws TooDeepError and TooManyContainersError. */
export function allText(value: unknown): string {
  const lines: string[] = [];
  const walk = (current: unknown, key: string, depth: number, nested: number): void => {
    if (depth > DEPTH_MAX) throw new TooDeepError("a value is nested too deeply");
    if (typeof current === "string") {
      lines.push(key === "" ? current : `${key}: ${current}`);
      const inner = nested < NESTED_MAX && /^\s*[{[]/.test(current) ? scannedJson(current) : undefined;
      if (typeof inner === "object" && inner !== null) walk(inner, "", depth + 1, nested + 1);
    } else if (typeof current === "number") lines.push(`${key}: ${current}`);
    else if (Array.isArray(current)) for (const item of current) walk(item, key, depth + 1, nested);
    else for (const [name, item] of Object.entries(objectOf(current) ?? {})) walk(item, labelOf(name), depth + 1, nested);
  };
  const labelOf = (name: string): string => {
    if (name.length <= KEY_CHARACTERS_MAX) return name;
    lines.push(name);
    return "";
  };
  walk(value, "", 0, 0);
  return lines.join("\n");
}

/** Members that describe an answer and are not its text: equal in every event, or random. */
const FACTS: ReadonlySet<string> = new Set([
  "id",
  "object",
  "type",
  "role",
  "model",
  "created",
  "system_fingerprint",
  "service_tier",
  "finish_reason",
  "stop_reason",
  "finishReason",
  "modelVersion",
  "responseId",
  "obfuscation",
  "item_id",
  "event_id",
  "response_id",
  "tool_use_id",
  "call_id",
  "signature",
  "thoughtSignature",
  "thought_signature",
  "encrypted_content",
]);

export const isFact = (name: string): boolean => FACTS.has(name);

/** Members that distinguish parallel items at the same position. */
const INDEXES = ["index", "output_index", "content_index", "summary_index"] as const;

/** The texts in one event of a stream, in their order. Throws TooDeepError. */
export function eventTexts(value: unknown): readonly FoundText[] {
  const found: FoundText[] = [];
  const walk = (current: unknown, channel: string, depth: number): void => {
    if (depth > DEPTH_MAX) throw new TooDeepError("a value is nested too deeply");
    if (typeof current === "string") {
      if (current !== "") found.push({ channel, text: current });
    } else if (Array.isArray(current)) {
      for (const [i, item] of listOf(current).entries()) walk(item, `${channel}[${indexOf(item) ?? i}]`, depth + 1);
    } else {
      const object = objectOf(current) ?? {};
      const own = depth === 0 ? INDEXES.map((name) => object[name] ?? "").join(",") : "";
      for (const [name, item] of Object.entries(object)) if (!FACTS.has(name)) walk(item, `${channel}${own}.${name}`, depth + 1);
    }
  };
  walk(value, "", 0);
  return found;
}

const indexOf = (item: unknown): number | undefined => {
  const index = objectOf(item)?.["index"];
  return typeof index === "number" ? index : undefined;
};

/** The beginning of an embedded file, and more of it. */
const FILE_START = /^data:[^,\s]{0,200};base64,[A-Za-z0-9+/=_-]*/;
const FILE_REST = /^[A-Za-z0-9+/=_-]*/;
export const isFile = (text: string): boolean => FILE_START.test(text);
/** The text behind a file, of which an honest one has nothing. */
export const behindFile = (text: string, isStart: boolean): string => text.replace(isStart ? FILE_START : FILE_REST, "");

/** Text that a model read or wrote, without embedded files, which every provider counts differently. */
export function plainText(value: unknown, isLeftOut: (text: string) => boolean = () => false): string {
  try {
    return eventTexts(value)
      .filter(({ text }) => !isLeftOut(text))
      .map(({ text }) => behindFile(text, true))
      .filter((text) => text !== "")
      .join(" ");
  } catch {
    return "";
  }
}

/** Text of a whole or streamed answer. */
export function answerText(chunks: readonly Buffer[]): string {
  const bytes = Buffer.concat(chunks);
  const whole = parsedJson(bytes.toString("utf8"));
  if (whole !== undefined) return plainText(whole);
  const texts = new Map<string, string>();
  const reader = new EventStreamReader(({ data }) => addTexts(texts, parsedJson(data)), { eventBytesMax: bytes.length + 1 });
  reader.push(bytes);
  return [...texts.values()].join(" ");
}

export function addTexts(texts: Map<string, string>, value: unknown): void {
  try {
    for (const { channel, text } of eventTexts(value)) texts.set(channel, (texts.get(channel) ?? "") + text);
  } catch {
    // An event that is nested too deeply has no text.
  }
}
