import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { HeaderObject } from "#wire/http/header-object.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { AnswerHandler } from "./answer-handler.ts";

/** The connection that the compressed bytes are read from. */
export interface PackedSource {
  /** Pauses the connection: enough bytes are waiting. */
  hold(): void;
  release(): void;
  abort(): void;
}

/** By name in content-encoding (RFC 9110 §8.4.1). */
const OPENERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ["gzip", () => createGunzip()],
  ["x-gzip", () => createGunzip()],
  ["deflate", () => createInflate()],
  ["br", () => createBrotliDecompress()],
  ["zstd", () => createZstdDecompress()],
]);

/**
 * A response that is compressed although the gateway asked for plain bytes. It is decompressed on arrival, so that its
 * tokens are counted, its secrets masked, its text inspected and its end distinguished from a cut.
 */
export class UnpackedAnswer implements AnswerHandler {
  readonly #handler: AnswerHandler;
  readonly #unpacker: Transform;
  readonly #source: PackedSource;
  #isEmpty = true;
  /** Why the connection failed before its end, if it did. */
  #failure: GatewayErrorName | undefined;

  /** Undefined for a plain response, or for an unknown coding, which passes unchanged. */
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
    // An empty response has nothing to decompress.
    if (this.#isEmpty) this.#handler.onEnd();
    else this.#unpacker.end();
  }

  /** The bytes received before the failure are still decompressed. */
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

  /** Discards the rest. */
  destroy(): void {
    this.#unpacker.removeAllListeners();
    this.#unpacker.on("error", () => undefined);
    this.#unpacker.destroy();
  }
}
