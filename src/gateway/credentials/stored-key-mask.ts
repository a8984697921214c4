import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import { RefusalError } from "#gateway/http/errors.ts";
import type { AnswerTransform, MakeTransform } from "#gateway/request/plan.ts";

/** Errors are short; bytes after this many pass unchanged. */
const ERROR_BYTES_MAX = 1024 * 1024;
/** Shorter values could be ordinary words. */
const SECRET_CHARACTERS_MIN = 6;

const DECODERS = new Map<string, (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer>([
  ["gzip", gunzipSync],
  ["x-gzip", gunzipSync],
  ["deflate", inflateSync],
  ["br", brotliDecompressSync],
  ["zstd", zstdDecompressSync],
]);

/**
 * Replaces stored credentials with asterisks where a provider repeats them: in the header fields of its answers, and in
 * the bodies of its errors. A client may use such a key but not read it.
 */
export function maskingStored(values: readonly string[]): MakeTransform {
  const secrets = values.filter(({ length }) => length >= SECRET_CHARACTERS_MIN);
  const inText = (text: string): string => secrets.reduce((shown, secret) => shown.replaceAll(secret, "*".repeat(secret.length)), text);
  const inFields = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? inText(value) : value?.map(inText)]),
    );
  return ({ status, headers }) => {
    const isError = status >= 400;
    if (secrets.length === 0 || (!isError && inText(JSON.stringify(headers)) === JSON.stringify(headers))) return undefined;
    return isError ? maskedError(inText, inFields) : { head: withFields(inFields), chunk: (bytes) => bytes, end: () => undefined };
  };
}

const withFields =
  (change: (headers: IncomingHttpHeaders) => IncomingHttpHeaders): AnswerTransform["head"] =>
  (head) => ({ ...head, headers: change(head.headers) });

function maskedError(inText: (text: string) => string, inFields: (headers: IncomingHttpHeaders) => IncomingHttpHeaders): AnswerTransform {
  const held = new GatheredBytes();
  let size = 0;
  let decode: ((bytes: Buffer) => Buffer) | undefined;
  const masked = (): Buffer => Buffer.from(inText((decode?.(held.take()) ?? held.take()).toString("latin1")), "latin1");
  return {
    head: (head) => {
      const { "content-encoding": encoding = "identity", ...headers } = inFields(head.headers);
      const decoder = DECODERS.get(encoding);
      if (decoder === undefined)
        return { ...head, headers: { ...headers, ...(encoding === "identity" ? {} : { "content-encoding": encoding }) } };
      decode = (bytes) => (bytes.length === 0 ? bytes : decoder(bytes, { maxOutputLength: ERROR_BYTES_MAX }));
      return { ...head, headers };
    },
    chunk: (bytes) => {
      size += bytes.length;
      held.push(bytes);
      if (size <= ERROR_BYTES_MAX) return undefined;
      if (decode !== undefined) throw new RefusalError({ name: "aig_answer_unreadable" });
      return masked();
    },
    end: () => {
      try {
        return masked();
      } catch {
        throw new RefusalError({ name: "aig_answer_unreadable" });
      }
    },
  };
}
