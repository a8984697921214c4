import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

export interface PatientAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** `fetch` gives up on an answer that begins after more than five minutes, whatever its signal says. */
export async function patientRequest(
  url: string,
  {
    method,
    headers = {},
    body,
    timeoutMs,
  }: { method: string; headers?: Record<string, string>; body?: string | FormData; timeoutMs: number },
): Promise<PatientAnswer> {
  const content = body === undefined ? undefined : new Response(body);
  const type = body instanceof FormData ? { "content-type": content?.headers.get("content-type") ?? "" } : {};
  const bytes = content === undefined ? undefined : Buffer.from(await content.arrayBuffer());
  const asked = request(url, { method, headers: { ...headers, ...type }, signal: AbortSignal.timeout(timeoutMs) });
  asked.end(bytes);
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  const known = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)]);
  return { status: answer.statusCode ?? 0, headers: new Headers(known), text: await text(answer) };
}
