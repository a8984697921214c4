import type { Agent } from "undici";
import { AcmeError, problemOf, subproblemsOf } from "./acme-error.ts";

/** One HTTP exchange with an authority. */
export interface Answer {
  readonly status: number;
  readonly location: string | null;
  readonly nonce: string | null;
  readonly retryAfterMs: number | null;
  readonly body: Buffer;
}

export interface Transport {
  /** Throws AcmeError if no answer comes in time; rejects with the signal's reason after an abort. */
  send(
    request: { readonly method: "GET" | "HEAD" | "POST"; readonly url: string; readonly body?: object },
    signal: AbortSignal,
  ): Promise<Answer>;
  close(): Promise<void>;
}

export interface TransportConfig {
  /** PEM of roots that are trusted in addition to the system's; empty for none. */
  readonly roots: string;
  readonly timeoutMs: number;
  readonly nowMs: () => number;
}

const CONNECTIONS_MAX = 8;
const BODY_BYTES_MAX = 1_048_576;
const RETRY_AFTER_MS_MAX = 86_400_000;

/** Opens connections to authorities on the first request. */
export function createTransport({ roots, timeoutMs, nowMs }: TransportConfig): Transport {
  let opening: Promise<{ agent: Agent; request: typeof import("undici").request }> | undefined;
  const open = async () => {
    // Large libraries, and installations with only a local authority do not need them.
    const [{ Agent, request }, { rootCertificates }] = await Promise.all([import("undici"), import("node:tls")]);
    const ca = roots === "" ? {} : { ca: [...rootCertificates, roots] };
    return { request, agent: new Agent({ connections: CONNECTIONS_MAX, connect: { ...ca, timeout: timeoutMs } }) };
  };
  const exchange = async ({ method, url, body }: Parameters<Transport["send"]>[0], signal: AbortSignal): Promise<Answer> => {
    const { agent, request } = await (opening ??= open());
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await request(url, {
        method,
        headers: { "user-agent": "selvedge-acme", ...(body === undefined ? {} : { "content-type": "application/jose+json" }) },
        body: body === undefined ? null : JSON.stringify(body),
        dispatcher: agent,
        signal: AbortSignal.any([signal, deadline]),
      });
      const header = (name: string): string | null => [answer.headers[name]].flat()[0] ?? null;
      return {
        status: answer.statusCode,
        location: header("location"),
        nonce: header("replay-nonce"),
        retryAfterMs: retryAfterMs(header("retry-after"), nowMs()),
        body: await readBounded(answer.body),
      };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AcmeError) throw error;
      const reason = deadline.aborted ? `no response within ${timeoutMs} ms` : (error as Error).message;
      throw new AcmeError({ type: "unavailable", detail: `${new URL(url).host}: ${reason}` }, { cause: error });
    }
  };
  /** A server may close an idle connection just as it is reused: the request has no answer then and is sent once more. */
  const once = async (sent: Parameters<Transport["send"]>[0], signal: AbortSignal, isLast: boolean): Promise<Answer> => {
    try {
      return await exchange(sent, signal);
    } catch (error) {
      if (isLast || !CLOSED.has(codeOf(error))) throw error;
      return once(sent, signal, true);
    }
  };
  return {
    send: (sent, signal) => once(sent, signal, false),
    close: async () => {
      if (opening !== undefined) await (await opening).agent.destroy();
    },
  };
}

const CLOSED: ReadonlySet<string> = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

const codeOf = (error: unknown): string => ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code ?? "";

async function readBounded(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX)
      throw new AcmeError({ type: "malformed_answer", detail: `the response is longer than ${BODY_BYTES_MAX} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Seconds or a date (RFC 9110 §10.2.3). */
export function retryAfterMs(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}

/** The answer's JSON object; throws AcmeError if the status is an error or the body has no object. */
export function objectOf(answer: Answer): Readonly<Record<string, unknown>> {
  const value = parsed(answer.body);
  assertGood(answer, value);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new AcmeError({ type: "malformed_answer", detail: "the response is not a JSON object" }, { status: answer.status });
  return value as Readonly<Record<string, unknown>>;
}

/** Throws the AcmeError that an answer carries. */
export function assertGood(answer: Answer, value: unknown = parsed(answer.body)): void {
  if (answer.status >= 200 && answer.status < 300) return;
  const { status, retryAfterMs: after } = answer;
  throw new AcmeError(problemOf(value, `the authority responded with status ${status}`), {
    status,
    retryAfterMs: after,
    subproblems: subproblemsOf(value),
  });
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
