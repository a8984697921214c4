import type { ReadyLine } from "#app/operations/ready.ts";

/** An answer of the management API (SPEC 2.1). */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly success: boolean;
    readonly result: any;
    readonly errors: readonly { readonly code: number; readonly message: string }[];
    readonly messages: readonly { readonly code: number; readonly message: string }[];
  };
}

export type ApiCall = (method: string, path: string, body?: object) => Promise<Answer>;

/** Calls the management API as the token's owner, with the timeout for each call. */
export function apiCaller(ready: ReadyLine, token = ready.token ?? "", timeoutMs = 120_000): ApiCall {
  return async (method, path, body) => {
    const res = await fetch(ready.api + path, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: res.status, headers: res.headers, body: (await res.json()) as Answer["body"] };
  };
}

/** The result of a call that has to succeed. */
export async function succeed(answer: Promise<Answer>): Promise<any> {
  const { status, body } = await answer;
  if (!body.success) throw new Error(`HTTP ${status}: ${JSON.stringify(body.errors)}`);
  return body.result;
}
