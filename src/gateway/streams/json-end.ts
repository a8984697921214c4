import { RefusalError } from "#gateway/http/errors.ts";
import type { AnswerHead, AnswerTransform, MakeTransform } from "#gateway/request/plan.ts";

/**
 * An answer without a length may end with its connection (RFC 9112 §6.3), or be a list that a provider streams; then only
 * its text distinguishes an end from a cut.
 */
export const watchingJson: MakeTransform = ({ status, headers }) =>
  status < 300 &&
  headers["content-length"] === undefined &&
  (headers["content-encoding"] ?? "identity") === "identity" &&
  /^application\/json\b/i.test(String(headers["content-type"]))
    ? new JsonTruth()
    : undefined;

/** White space of RFC 8259 §2. */
const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The closing byte of `{` and `[`. */
const CLOSERS: ReadonlyMap<number | undefined, number> = new Map([
  [0x7b, 0x7d],
  [0x5b, 0x5d],
]);

/** The first and the last byte of a JSON text that are not white space. */
export class JsonEdges {
  #first: number | undefined;
  #last: number | undefined;

  see(bytes: Buffer): void {
    this.#first ??= bytes.find((byte) => !isSpace(byte));
    this.#last = bytes.findLast((byte) => !isSpace(byte)) ?? this.#last;
  }

  /** Whether an object or a list lacks its closing brace or bracket. */
  get isCut(): boolean {
    const closer = CLOSERS.get(this.#first);
    return closer !== undefined && this.#last !== closer;
  }
}

class JsonTruth implements AnswerTransform {
  readonly #edges = new JsonEdges();

  head(head: AnswerHead): AnswerHead {
    return head;
  }

  chunk(bytes: Buffer): Buffer {
    this.#edges.see(bytes);
    return bytes;
  }

  end(): undefined {
    if (this.#edges.isCut) throw new RefusalError({ name: "aig_answer_cut" });
  }
}
