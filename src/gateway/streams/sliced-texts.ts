import type { Work } from "#kernel/process/slices.ts";
import { EventStreamReader, type StreamEvent } from "#wire/http/event-stream.ts";
import { parsedJson } from "#gateway/http/json.ts";
import { jsonPlainTexts } from "./json-texts.ts";
import { addTexts, answerText, plainText } from "./text-extraction.ts";

/** Bytes that are read as a value in one go, in a millisecond or two. */
const AT_ONCE_BYTES_MAX = 256 * 1024;
const READ_BYTES = 64 * 1024;
/** Microseconds for a byte that is read as JSON. */
const READ_COST = 1 / 100;

/**
 * The text of a request, as of `plainText`, or of an answer, as of `answerText`, in slices. A text of more than
 * `lengthMax` characters is not read to its end. Throws UninspectableError.
 */
export function* slicedText(bytes: Buffer, isAnswer: boolean, lengthMax: number): Work<string> {
  yield Math.min(bytes.length, AT_ONCE_BYTES_MAX) * READ_COST;
  if (bytes.length <= AT_ONCE_BYTES_MAX) return isAnswer ? answerText([bytes]) : plainText(parsedJson(bytes.toString("utf8")));
  const whole = yield* largeValueText(bytes, lengthMax);
  if (whole !== undefined || !isAnswer) return whole ?? "";
  const texts = new Map<string, string>();
  const events: StreamEvent[] = [];
  const reader = new EventStreamReader((event) => void events.push(event), { eventBytesMax: bytes.length + 1 });
  let length = 0;
  for (let at = 0; at < bytes.length && length <= lengthMax; at += READ_BYTES) {
    reader.push(bytes.subarray(at, at + READ_BYTES));
    for (const { data } of events.splice(0)) {
      yield 1 + Math.min(data.length, AT_ONCE_BYTES_MAX) * READ_COST;
      if (data.length <= AT_ONCE_BYTES_MAX) addTexts(texts, parsedJson(data));
      else texts.set(`event ${texts.size}`, (yield* largeValueText(Buffer.from(data), lengthMax)) ?? "");
    }
    length = texts.values().reduce((sum, text) => sum + text.length, 0);
  }
  return [...texts.values()].join(" ");
}

/** Undefined for bytes that are no object or array in JSON. */
function* largeValueText(bytes: Buffer, lengthMax: number): Work<string | undefined> {
  const pieces: Buffer[] = [];
  let length = 0;
  const isValue = yield* jsonPlainTexts(bytes, (piece) => {
    if (length <= lengthMax * BYTES_A_CHARACTER_MAX) pieces.push(piece);
    length += piece.length;
    return piece.length * READ_COST;
  });
  // Texts are joined, so none begins with a space.
  return isValue ? Buffer.concat(pieces).toString("utf8").slice(1) : undefined;
}

const BYTES_A_CHARACTER_MAX = 3;
