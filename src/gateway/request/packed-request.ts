import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import type { MemoryShare } from "#kernel/fair-memory.ts";
import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import { hasZlibHeader, type Packing, packingsOf } from "#gateway/http/codings.ts";
import type { Refusal } from "#gateway/http/errors.ts";
import type { ClientRequest } from "#gateway/listen/client-request.ts";
import type { ReadyBody } from "./plan.ts";

interface PlainRequest {
  readonly req: ClientRequest;
  readonly body: ReadyBody;
}

interface Reading {
  /** Of a decompressed body. */
  readonly bytesMax: number;
  /** Whether the gateway must read the body. */
  readonly mustRead: boolean;
}

/**
 * The request with its body decompressed, as some clients compress it: the gateway reads its model, and inspects its text. One
 * that is too long to be read whole passes unchanged, and so does an unknown coding unless the gateway must read it. A promise
 * only if there is something to decompress, because most requests are plain.
 */
export function plainRequest(req: ClientRequest, body: ReadyBody, reading: Reading): PlainRequest | Promise<PlainRequest | Refusal> {
  const { "content-encoding": field } = req.headers;
  return field === undefined || body.kind === "stream" ? { req, body } : unpacked(req, field, body, reading);
}

async function unpacked(
  req: ClientRequest,
  field: string,
  body: Extract<ReadyBody, { readonly kind: "whole" }>,
  { bytesMax, mustRead }: Reading,
): Promise<PlainRequest | Refusal> {
  const packings = packingsOf(field);
  if (packings === undefined) return mustRead ? UNREADABLE : { req, body };
  const { "content-encoding": _field, ...headers } = req.headers;
  let { bytes } = body;
  for (const packing of packings) {
    const plain = bytes.length === 0 ? bytes : await decompressed(OPENERS[packing](bytes[0]!), bytes, bytesMax, body.memory);
    if ("name" in plain) return plain;
    bytes = plain;
  }
  return { req: { ...req, headers }, body: { ...body, bytes } };
}

/** Its memory is taken as it grows: many small bodies that all become long would else have no bound together. */
async function decompressed(decoder: Transform, packed: Buffer, bytesMax: number, memory?: MemoryShare): Promise<Buffer | Refusal> {
  const gathered = new GatheredBytes();
  decoder.end(packed);
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      gathered.push(piece);
      if (gathered.length > bytesMax) return { name: "aig_body_too_large" };
      if (memory?.take(piece.length) === false) return { name: "aig_overloaded" };
    }
    return gathered.take();
  } catch {
    return UNREADABLE;
  }
}

const UNREADABLE: Refusal = {
  name: "aig_bad_request",
  message: "The body is not in a coding that the gateway reads (gzip, deflate, br, zstd).",
};

const OPTIONS = { chunkSize: 65_536 };
/** By the first byte of the body. */
const OPENERS: Readonly<Record<Packing, (first: number) => Transform>> = {
  gzip: () => createGunzip(OPTIONS),
  deflate: (first) => (hasZlibHeader(first) ? createInflate(OPTIONS) : createInflateRaw(OPTIONS)),
  br: () => createBrotliDecompress(OPTIONS),
  zstd: () => createZstdDecompress(OPTIONS),
};
