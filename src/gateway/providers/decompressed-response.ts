import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import type { HeaderObject } from "#wire/http/header-object.ts";
import { hasZlibHeader, type Packing, packingsOf } from "#gateway/http/codings.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { AnswerHandler } from "./answer-handler.ts";

/** The connection that the compressed bytes are read from. */
export interface PackedSource {
  /** Pauses the connection: enough bytes are waiting. */
  hold(): void;
  release(): void;
  abort(): void;
}

/** For a body with this first byte; undefined if that is not known yet. */
type Open = (first?: number) => Transform;

const OPENERS: Readonly<Record<Packing, Open>> = {
  gzip: () => createGunzip(),
  deflate: (first) => (first === undefined || hasZlibHeader(first) ? createInflate() : createInflateRaw()),
  br: () => createBrotliDecompress(),
  zstd: () => createZstdDecompress(),
};

/**
 * A response that is compressed although the gateway asked for plain bytes. It is decompressed on arrival, so that its
 * tokens are counted, its secrets masked, its text inspected and its end distinguished from a cut.
 */
export class UnpackedAnswer implements AnswerHandler {
  readonly #handler: AnswerHandler;
  /** The first undoes the last coding of the list. Opened with the first byte. */
  readonly #openers: readonly Open[];
  #unpackers: readonly Transform[] = [];
  readonly #source: PackedSource;
  #isPaused = false;
  /** Why the connection failed before its end, if it did. */
  #failure: GatewayErrorName | undefined;

  /** Undefined for a plain response, or with an unknown coding, which passes unchanged. */
  static of(coding: string, handler: AnswerHandler, source: PackedSource): UnpackedAnswer | undefined {
    const packings = packingsOf(coding) ?? [];
    const openers = packings.map((packing) => OPENERS[packing]);
    return openers.length === 0 ? undefined : new UnpackedAnswer(openers, handler, source);
  }

  private constructor(openers: readonly Open[], handler: AnswerHandler, source: PackedSource) {
    this.#handler = handler;
    this.#openers = openers;
    this.#source = source;
  }

  #open(first: number | undefined): Transform {
    const unpackers = this.#openers.map((open, index) => (index === 0 ? open(first) : open()));
    this.#unpackers = unpackers;
    const [head, last] = [unpackers[0] as Transform, unpackers.at(-1) as Transform];
    head.on("drain", () => this.#source.release());
    for (const [index, unpacker] of unpackers.entries()) {
      const next = unpackers[index + 1];
      if (next !== undefined) unpacker.pipe(next);
      unpacker.on("error", () => this.#fail());
    }
    last.on("data", (bytes: Buffer) => {
      this.#handler.onData(bytes);
      this.#handler.onReadEnd?.();
    });
    last.on("end", () => (this.#failure === undefined ? this.#handler.onEnd() : this.#handler.onFailed(this.#failure)));
    if (this.#isPaused) last.pause();
    return head;
  }

  /** The bytes are not what the head says, or end early. */
  #fail(): void {
    this.destroy();
    this.#source.abort();
    this.#handler.onFailed(this.#failure ?? "aig_upstream_failed");
  }

  onHead(status: number, { "content-encoding": _coding, "content-length": _length, ...headers }: HeaderObject): void {
    this.#handler.onHead(status, headers);
  }

  onData(bytes: Buffer): void {
    const head = this.#unpackers[0] ?? this.#open(bytes[0]);
    if (!head.write(bytes)) this.#source.hold();
  }

  onEnd(): void {
    // An empty response has nothing to decompress.
    if (this.#unpackers[0] === undefined) this.#handler.onEnd();
    else this.#unpackers[0].end();
  }

  /** The bytes received before the failure are still decompressed. */
  onFailed(name: GatewayErrorName): void {
    this.#failure = name;
    if (this.#unpackers[0] === undefined) this.#handler.onFailed(name);
    else this.#unpackers[0].end();
  }

  pause(): void {
    this.#isPaused = true;
    this.#unpackers.at(-1)?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#unpackers.at(-1)?.resume();
  }

  /** Discards the rest. */
  destroy(): void {
    for (const unpacker of this.#unpackers) {
      unpacker.removeAllListeners();
      unpacker.on("error", () => undefined);
      unpacker.destroy();
    }
  }
}
