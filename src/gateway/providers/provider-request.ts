import type { ReadyBody } from "#gateway/request/plan.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { Question } from "./provider-call.ts";

export interface ProviderRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Without host and framing. */
  readonly headers: FlatHeaders;
  readonly body: ReadyBody;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TARGET = /^\/[\x21-\x7e]*$/;
/** RFC 9110 §5.5: with a line end in it, a value could begin another field. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The request in the form in which it is sent; undefined if a head cannot contain a part of it. */
export function providerRequestOf({ method, target, headers, body }: ProviderRequest, host: string): Question | undefined {
  let fields = "";
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string];
    if (!TOKEN.test(name) || !VALUE.test(value)) return undefined;
    fields += `${name}: ${value}\r\n`;
  }
  if (!TOKEN.test(method) || !TARGET.test(target)) return undefined;
  return { method, head: `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${fields}`, body };
}
