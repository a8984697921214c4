import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import type { HeaderObject } from "#wire/http/header-object.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { ProviderCall } from "./provider-call.ts";
import type { ProviderPool } from "./provider-pool.ts";

export interface BufferedRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: FlatHeaders;
  readonly body: string | Buffer;
}

export interface BufferedResponse {
  readonly status: number;
  readonly headers: HeaderObject;
  readonly text: string;
}

/** For the gateway's own requests: resolves with the whole response; rejects if it does not arrive in time or is too long. */
export function fetchBuffered(
  pool: ProviderPool,
  { body: given, ...request }: BufferedRequest,
  { timeoutMs, answerBytesMax }: { readonly timeoutMs: number; readonly answerBytesMax: number },
): Promise<BufferedResponse> {
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes();
    let status = 0;
    let headers: HeaderObject = {};
    // Set later: a request that fails at once has no call.
    const asked: { call?: ProviderCall } = {};
    const fail = (message: string): void => {
      clearTimeout(limit);
      asked.call?.abort();
      reject(new Error(message));
    };
    const limit = setTimeout(() => fail(`no response within ${timeoutMs} ms`), timeoutMs);
    const body = { kind: "whole", bytes: typeof given === "string" ? Buffer.from(given) : given } as const;
    asked.call = pool.ask(
      { ...request, body },
      {
        onHead: (answered, fields) => {
          status = answered;
          headers = fields;
        },
        onData: (chunk) => {
          gathered.push(chunk);
          if (gathered.length > answerBytesMax) fail("the response is too long");
        },
        onEnd: () => {
          clearTimeout(limit);
          resolve({ status, headers, text: gathered.take().toString() });
        },
        onFailed: (name) => fail(name),
      },
    );
  });
}
