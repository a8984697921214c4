import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate, inflateRaw, zstdDecompress } from "node:zlib";
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
  try {
    let { bytes } = body;
    for (const packing of packings) if (bytes.length > 0) bytes = await DECODERS[packing](bytes, { maxOutputLength: bytesMax });
    if (body.memory?.take(bytes.length) === false) return { name: "aig_overloaded" };
    return { req: { ...req, headers }, body: { ...body, bytes } };
  } catch (error) {
    return error instanceof RangeError ? { name: "aig_body_too_large" } : UNREADABLE;
  }
}

const UNREADABLE: Refusal = {
  name: "aig_bad_request",
  message: "The body is not in a coding that the gateway reads (gzip, deflate, br, zstd).",
};

type Decode = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const [inflated, inflatedRaw] = [promisify<Buffer, object, Buffer>(inflate), promisify<Buffer, object, Buffer>(inflateRaw)];
const DECODERS: Readonly<Record<Packing, Decode>> = {
  gzip: promisify<Buffer, object, Buffer>(gunzip),
  deflate: (bytes, options) => (hasZlibHeader(bytes[0] ?? 0) ? inflated : inflatedRaw)(bytes, options),
  br: promisify<Buffer, object, Buffer>(brotliDecompress),
  zstd: promisify<Buffer, object, Buffer>(zstdDecompress),
};
