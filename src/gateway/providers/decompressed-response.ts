import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { HeaderObject } from "#wire/http/header-object.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { AnswerHandler } from "./answer-handler.ts";

/** Where the packed bytes come from. */
export interface PackedSource {
  /** More than enough is on its way. */
  hold(): void;
  release(): void;
  abort(): void;
}

/** By their names in content-encoding (RFC 9110 §8.4.1). */
const OPENERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["deflate", () => createInflate()],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress()],
]);

/**
 * An answer that comes packed though it was asked for plain. It is unpacked on the way in, so that its tokens are counted,
 * its secrets masked, its text looked through and its end told from a cut as in any other.
 */
export class UnpackedAnswer implements AnswerHandler {
  readonly #handler: AnswerHandler;
  readonly #unpacker: Transform;
  readonly #source: PackedSource;
  #isEmpty = true;
  /** What became of the connection, where it did not come to its end. */
  #failure: GatewayErrorName | undefined;

  /** Undefined for what is plain, or packed in a way that nobody knows here: it passes as it is. */
  static of(coding: string, handler: AnswerHandler, source: PackedSource): UnpackedAnswer | undefined {
    const open = OPENERS.get(coding.trim().toLowerCase());
    return open === undefined ? undefined : new UnpackedAnswer(open(), handler, source);
  }

  private constructor(unpacker: Transform, handler: AnswerHandler, source: PackedSource) {
    this.#handler = handler;
    this.#unpacker = unpacker;
    this.#source = source;
    unpacker.on("data", (bytes: Buffer) => {
      handler.onData(bytes);
      handler.onReadEnd?.();
    });
    unpacker.on("drain", () => source.release());
    unpacker.on("end", () => (this.#failure === undefined ? handler.onEnd() : handler.onFailed(this.#failure)));
    unpacker.on("error", () => {
      source.abort();
      handler.onFailed(this.#failure ?? "aig_upstream_failed");
    });
  }

  onHead(status: number, { "content-encoding": _coding, "content-length": _length, ...headers }: HeaderObject): void {
    this.#handler.onHead(status, headers);
  }

  onData(bytes: Buffer): void {
    this.#isEmpty = false;
    if (!this.#unpacker.write(bytes)) this.#source.hold();
  }

  onEnd(): void {
    // An answer without content is packed in nothing.
    if (this.#isEmpty) this.#handler.onEnd();
    else this.#unpacker.end();
  }

  /** What came before is still unpacked. */
  onFailed(name: GatewayErrorName): void {
    this.#failure = name;
    if (this.#isEmpty) this.#handler.onFailed(name);
    else this.#unpacker.end();
  }

  pause(): void {
    this.#unpacker.pause();
  }

  resume(): void {
    this.#unpacker.resume();
  }

  /** Nobody wants what is left. */
  destroy(): void {
    this.#unpacker.removeAllListeners();
    this.#unpacker.on("error", () => undefined);
    this.#unpacker.destroy();
  }
}
