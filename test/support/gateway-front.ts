import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { type FixedClock, fixedClock } from "#kernel/clock.ts";
import { createMetrics, type MetricRegistry } from "#kernel/process/metrics.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { GATEWAY_LIMITS, type GatewayConfig, type GatewayLimits } from "#gateway/config.ts";
import { createGateway } from "#gateway/gateway.ts";
import type { GatewayDeps } from "#gateway/gateway-deps.ts";
import type { GatewayEntry, Op } from "#snapshot/entries.ts";
import { createMemoryReplica, type MemoryReplica } from "#snapshot/memory-replica.ts";

export const GATEWAY_ACCOUNT = "a".repeat(32);

export const gatewayOp = (id: string, value: Partial<GatewayEntry> = {}): Op => ({
  kind: "gateway",
  id: `${GATEWAY_ACCOUNT}/${id}`,
  value: { account_id: GATEWAY_ACCOUNT, gateway_id: id, authentication: false, collect_logs: true, ...value },
});

/** A token that may run every gateway of the account. */
export const gatewayTokenOp = (secret: string): Op => ({
  kind: "token",
  id: secret,
  value: {
    hash: createHash("sha256").update(secret).digest("hex"),
    accounts: [GATEWAY_ACCOUNT],
    not_before: null,
    expires_on: null,
    addresses: { allow: [], deny: [] },
  },
});

export interface GatewayFront {
  readonly port: number;
  /** For requests that the edge hands on; 0 unless `config.edgePort` is there. */
  readonly edgePort: number;
  /** `http://…/v1/{account_id}` */
  readonly base: string;
  readonly rows: GatewayLogRow[];
  readonly replica: MemoryReplica;
  /** Moves the wall clock only. A leap of the monotonic clock, which times connections, would close those that clients keep. */
  readonly clock: FixedClock;
  readonly metrics: MetricRegistry;
  /** Sums over labels. */
  metric(name: string): number;
  /** Ends the gateway: requests that run have the time to finish. */
  close(timeoutMs: number): Promise<void>;
}

export interface FrontOptions {
  readonly ops?: readonly Op[];
  readonly providers?: Readonly<Record<string, string>>;
  readonly limits?: Partial<GatewayLimits>;
  readonly config?: Partial<GatewayConfig>;
  readonly deps?: Partial<GatewayDeps>;
}

/** A gateway plane in this process, on a separate socket; its logs are in `rows`. */
export async function gatewayFront(t: TestContext, options: FrontOptions = {}): Promise<GatewayFront> {
  const rows: GatewayLogRow[] = [];
  const metrics = createMetrics();
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const replica = createMemoryReplica([...(options.ops ?? [gatewayOp("gw")])]);
  const config = {
    host: "127.0.0.1",
    port: 0,
    vendorPrefix: "svc",
    providers: options.providers ?? {},
    limits: { ...GATEWAY_LIMITS, ...options.limits },
    ...options.config,
  };
  const events: GatewayDeps["events"] = { push: (table, row) => void (table === "gateway_logs" && rows.push(row as GatewayLogRow)) };
  const gateway = createGateway({ replica, events, clock, metrics, config, ...options.deps });
  const { port, edgePort } = await gateway.listen();
  let closing: Promise<void> | undefined;
  const close = (timeoutMs: number): Promise<void> => (closing ??= gateway.close(timeoutMs));
  t.after(() => close(500));
  const metric = (name: string): number =>
    metrics
      .samples()
      .filter((sample) => sample.name === name)
      .reduce((sum, sample) => sum + sample.value, 0);
  return { port, edgePort, base: `http://127.0.0.1:${port}/v1/${GATEWAY_ACCOUNT}`, rows, replica, clock, metrics, metric, close };
}

/** A request as received by a stand-in for a provider. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface TestProvider {
  /** `http://127.0.0.1:{port}` */
  readonly url: string;
  readonly seen: SeenRequest[];
}

/** A provider that answers as the test says; it counts its requests from 0. */
export async function testProvider(
  t: TestContext,
  answer: (res: ServerResponse, seen: SeenRequest, number: number) => void,
): Promise<TestProvider> {
  const seen: SeenRequest[] = [];
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = [];
    req.on("error", () => undefined);
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("end", () => {
      const request = { method: req.method ?? "", url: req.url ?? "", headers: req.headers, body: Buffer.concat(chunks).toString() };
      answer(res, request, seen.push(request) - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A complete answer in the shape of OpenAI. */
export function answerChat(
  res: ServerResponse,
  text: string,
  usage: object = { prompt_tokens: 10, completion_tokens: 5 },
  status = 200,
): void {
  const body = JSON.stringify({
    id: "c",
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: text } }],
    usage,
  });
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body);
}

export const postJson = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer provider-key", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

export const TEST_CHAT = { model: "gpt-4o-mini", messages: [{ role: "user", content: "hello" }] };
