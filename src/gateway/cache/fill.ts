import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { IncomingHttpHeaders } from "node:http";
import { JsonEdges } from "#gateway/streams/json-end.ts";
import { mediaType } from "#gateway/usage/usage.ts";
import { KEPT_BYTES_MAX } from "./cached-response.ts";

/** What comes of an answer that may be kept: called once. Undefined: it cannot be. */
type OnFilled = (
  answer: { readonly status: number; readonly contentType: string; readonly chunks: readonly Buffer[]; readonly bytes: number } | undefined,
) => void;

/** Bytes of answers that are being collected, of all requests together. */
const COLLECTED_BYTES_MAX = 128 * 1024 * 1024;
let collectedBytes = 0;

/** Text and images (reference, part A). */
const isKept = (type: string): boolean => type === "application/json" || type.startsWith("text/") || type.startsWith("image/");

/** How streams of the known shapes end. One that stops without it was cut, however orderly its connection was closed. */
const STREAM_ENDS = ["[DONE]", "message_stop", '"finishReason"', "response.completed", "message-end"];
const STREAM_TAIL_BYTES = 4096;

/** Collects one answer while it passes. Only a whole and successful one is worth keeping. */
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
    const tooLong = Number(headers["content-length"] ?? 0) > KEPT_BYTES_MAX;
    if (status !== 200 || !isKept(mediaType(this.#contentType)) || encoding !== "identity" || tooLong) this.drop();
  }

  chunk(bytes: Buffer): void {
    if (!this.#isOpen) return;
    this.#bytes += bytes.length;
    collectedBytes += bytes.length;
    if (this.#bytes > KEPT_BYTES_MAX || collectedBytes > COLLECTED_BYTES_MAX) this.drop();
    // Pieces may be views of a connection's larger buffer, which would be held with them.
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

  /** What was collected is given up: the answer was cut, refused or is of no use. */
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
