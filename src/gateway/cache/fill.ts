import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { IncomingHttpHeaders } from "node:http";
import { JsonEdges } from "#gateway/streams/json-end.ts";
import { mediaType } from "#gateway/usage/usage.ts";
import { CACHED_BYTES_MAX } from "./cached-response.ts";

/** Called once with the answer; with undefined if it cannot be stored. */
type OnFilled = (
  answer: { readonly status: number; readonly contentType: string; readonly chunks: readonly Buffer[]; readonly bytes: number } | undefined,
) => void;

/** Bytes that all requests together may collect. */
const COLLECTED_BYTES_MAX = 128 * 1024 * 1024;
let collectedBytes = 0;

/** Text, JSON and images are stored (reference, part A). */
const isKept = (type: string): boolean => type === "application/json" || type.startsWith("text/") || type.startsWith("image/");

/** Ends of streams in the known dialects. A stream without one was cut, even if its connection was closed in an orderly way. */
const STREAM_ENDS = ["[DONE]", "message_stop", '"finishReason"', "response.completed", "message-end"];
const STREAM_TAIL_BYTES = 4096;

/** Collects one answer while it passes; only a complete and successful answer is stored. */
export class CacheFill {
  readonly #onFilled: OnFilled;
  readonly #gathered = new GatheredBytes();
  #bytes = 0;
  #status = 0;
  #contentType = "";
  #isOpen = true;

  constructor(onFilled: OnFilled) {
    this.#onFilled = onFilled;
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#contentType = String(headers["content-type"] ?? "");
    const encoding = headers["content-encoding"] ?? "identity";
    const tooLong = Number(headers["content-length"] ?? 0) > CACHED_BYTES_MAX;
    if (status !== 200 || !isKept(mediaType(this.#contentType)) || encoding !== "identity" || tooLong) this.drop();
  }

  chunk(bytes: Buffer): void {
    if (!this.#isOpen) return;
    this.#bytes += bytes.length;
    collectedBytes += bytes.length;
    if (this.#bytes > CACHED_BYTES_MAX || collectedBytes > COLLECTED_BYTES_MAX) this.drop();
    // Copied, because chunks can be views of a larger buffer, which they would keep in memory.
    else this.#gathered.push(Buffer.from(bytes));
  }

  end(): void {
    if (!this.#isOpen) return;
    const type = mediaType(this.#contentType);
    const chunks = this.#gathered.list();
    if (type === "text/event-stream" && !hasEnd(chunks)) return this.drop();
    if (type === "application/json" && isCutJson(chunks)) return this.drop();
    const answer = { status: this.#status, contentType: this.#contentType, chunks, bytes: this.#bytes };
    this.#close(answer);
  }

  /** Discards the collected bytes: the answer was cut, refused or cannot be stored. */
  drop(): void {
    if (this.#isOpen) this.#close(undefined);
  }

  #close(answer: Parameters<OnFilled>[0]): void {
    this.#isOpen = false;
    collectedBytes -= this.#bytes;
    this.#gathered.clear();
    this.#onFilled(answer);
  }
}

function hasEnd(chunks: readonly Buffer[]): boolean {
  const last: Buffer[] = [];
  for (let i = chunks.length - 1, bytes = 0; i >= 0 && bytes < STREAM_TAIL_BYTES; i--) {
    const chunk = chunks[i] as Buffer;
    last.unshift(chunk);
    bytes += chunk.length;
  }
  const tail = Buffer.concat(last);
  const text = tail.toString("latin1", Math.max(0, tail.length - STREAM_TAIL_BYTES));
  return STREAM_ENDS.some((end) => text.includes(end));
}

function isCutJson(chunks: readonly Buffer[]): boolean {
  const edges = new JsonEdges();
  for (const chunk of chunks) edges.see(chunk);
  return edges.isCut;
}
