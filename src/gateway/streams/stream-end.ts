import { RefusalError } from "#gateway/http/errors.ts";
import type { AnswerHead, AnswerTransform, MakeTransform } from "#gateway/request/plan.ts";
import { ChunkList } from "#gateway/http/chunks.ts";
import type { Mark, StreamKind } from "./stream-formats.ts";

/** Bytes of the end of a stream in which `[DONE]` or an error is searched. */
const TAIL_BYTES = 512;
/** Bytes of a stream that are searched at once; the rest is searched at the end. */
const LOOK_BYTES = 16 * 1024;
const LF = 0x0a;
const QUOTE = 0x22;
const SPACE = 0x20;

/** Whether a stream passes unchanged, so that its end can be watched for. */
export const isPlainStream = ({ status, headers }: AnswerHead): boolean =>
  status < 300 &&
  /^text\/event-stream\b/i.test(String(headers["content-type"])) &&
  (headers["content-encoding"] ?? "identity") === "identity";

export const watching =
  (kind: StreamKind): MakeTransform =>
  (head) =>
    isPlainStream(head) ? new StreamTruth(kind) : undefined;

/**
 * Forwards a stream and watches for its end. If the provider closes without it, even in an orderly way, the client gets
 * an error event, and the stream is cut.
 */
class StreamTruth implements AnswerTransform {
  readonly #kind: StreamKind;
  readonly #held = new ChunkList();
  #hasEnd = false;
  #hasFailed = false;

  constructor(kind: StreamKind) {
    this.#kind = kind;
  }

  head(head: AnswerHead): AnswerHead {
    return head;
  }

  chunk(bytes: Buffer): Buffer {
    this.#held.push(bytes);
    if (this.#held.length >= LOOK_BYTES) this.#keep(this.#look());
    return bytes;
  }

  end(): undefined {
    const bytes = this.#look();
    if (isToldFailed(bytes) || !(this.#hasEnd || isDone(bytes))) throw new RefusalError({ name: "aig_answer_cut" });
  }

  cut(reason: Parameters<StreamKind["errorEvent"]>[0]): Buffer | undefined {
    const bytes = this.#held.joined();
    if (isToldFailed(bytes)) return undefined;
    // Ends an incomplete event first, which would otherwise include this one.
    const isWithinLine = bytes.length > 0 && bytes[bytes.length - 1] !== LF;
    return Buffer.from((isWithinLine ? "\n\n" : "") + this.#kind.errorEvent(reason));
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Searches the bytes since the last search, with the kept bytes before them, because a mark may be split. */
  #look(): Buffer {
    const bytes = this.#held.joined();
    this.#hasEnd ||= this.#kind.ends.some((end) => stands(bytes, end));
    this.#hasFailed ||= this.#kind.failures?.some((failure) => stands(bytes, failure)) === true;
    return bytes;
  }

  #keep(bytes: Buffer): void {
    this.#held.clear();
    this.#held.push(Buffer.from(bytes.subarray(-TAIL_BYTES)));
  }
}

const endOf = (bytes: Buffer): string => bytes.toString("latin1", Math.max(0, bytes.length - TAIL_BYTES));

// linear: pumped
const isDone = (bytes: Buffer): boolean => /(?:^|\n)data: ?\[DONE\]\s*$/.test(endOf(bytes));

/** Marks that only the last event of a stream has, in any dialect; chats have `[DONE]`. */
const LAST = ['"message_stop"', '"response.completed"', '"response.incomplete"', '"finishReason":', '"message-end"', '"stream-end"'];

/** Whether a client that got these chunks last has all events of its stream, and the last ones report no failure. */
export function hasLastEvent(pieces: readonly Buffer[]): boolean {
  const bytes = Buffer.concat(pieces.map((piece) => piece.subarray(-TAIL_BYTES)));
  if (isToldFailed(bytes) || bytes.includes('"finish_reason":"ERROR')) return false;
  // An incomplete event does not count.
  return isDone(bytes) || (/\n\r?\n$/.test(endOf(bytes)) && LAST.some((text) => bytes.includes(text)));
}

/** Whether the provider's last event reports a failure. */
const isToldFailed = (bytes: Buffer): boolean => /(?:^|\n)(?:event: ?error\r?\n|data: ?\{"error")/.test(endOf(bytes));

/** Searches from the end, where nearly every stream has the mark: a mark with a null value may be in each event. */
function stands(bytes: Buffer, { text, hasValue }: Mark): boolean {
  for (let at = bytes.lastIndexOf(text); at >= 0; at = at === 0 ? -1 : bytes.lastIndexOf(text, at - 1)) {
    if (!hasValue) return true;
    let next = at + text.length;
    while (bytes[next] === SPACE) next++;
    if (bytes[next] === QUOTE) return true;
  }
  return false;
}
