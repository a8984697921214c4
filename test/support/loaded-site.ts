import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { LLMock } from "@copilotkit/aimock";
import { type ConstantLoad, dnsClient, http1Client, http2Client, startLoad, streamClient } from "./constant-load.ts";
import { api, type Selvedge, startSelvedge } from "./selvedge.ts";

const run = promisify(execFile);
const program = join(dirname(dirname(import.meta.dirname)), "bin/selvedge.js");

/** A server with a zone before an origin and a provider of streams, and clients of all its planes. */
export interface LoadedSite {
  readonly selvedge: Selvedge;
  readonly token: string;
  readonly zoneId: string;
  /** Starts to send all kinds of requests without a pause. */
  load(): ConstantLoad;
  /** Runs `selvedge restart`; rejects if it fails. */
  restart(): Promise<{ readonly pid: number; readonly previous_pid: number }>;
  /** Ends origin and provider. */
  close(): Promise<void>;
}

export async function loadedSite(): Promise<LoadedSite> {
  const origin = createServer((_req, res) => res.end("hello")).listen(0, "127.0.0.1");
  await once(origin, "listening");
  const provider = new LLMock({ port: 0, logLevel: "silent" });
  provider.onMessage("endless", { content: "word ".repeat(60) }, { chunkSize: 5, latency: 20 });
  await provider.start();
  const originPort = (origin.address() as AddressInfo).port;
  const selvedge = await startSelvedge({ args: ["--provider", `openai=${provider.url}/v1`, "--edge-origin-port", String(originPort)] });
  const { ready, dataDir } = selvedge;
  const token = ready.token ?? "";
  const zone = await api(selvedge, token, "POST", "/zones", { name: "shop.example", account: { id: ready.account_id } });
  const zoneId = zone.body.result.id as string;
  const record = { type: "A", name: "www", content: "127.0.0.1", proxied: true };
  assert.equal((await api(selvedge, token, "POST", `/zones/${zoneId}/dns_records`, record)).status, 200);
  const ca = readFileSync(join(dataDir, "ca.pem"), "utf8");
  const host = "www.shop.example";
  const verify = `${ready.api}/user/tokens/verify`;
  const chat = `${ready.gateway}/v1/${ready.account_id}/default/openai/chat/completions`;
  return {
    ...{ selvedge, token, zoneId },
    load: () =>
      startLoad({
        "HTTP/1.1, connections kept": [1, 2, 3].map(() => http1Client(ready.http, { host, keepAlive: true })),
        "HTTP/1.1, new connections": [http1Client(ready.http, { host, keepAlive: false })],
        "HTTP/2": [1, 2].map(() => http2Client(ready.https, { host, ca })),
        "DNS over UDP": [1, 2].map(() => dnsClient(ready.dns, `${host}.`, "udp")),
        "DNS over TCP": [dnsClient(ready.dns, `${host}.`, "tcp")],
        API: [true, false].map((keepAlive) => http1Client(verify, { keepAlive, token })),
        "streams of the gateway": [1, 2].map(() => streamClient(chat, token)),
      }),
    restart: async () => JSON.parse((await run(process.execPath, [program, "restart", "--data", dataDir, "--json"])).stdout),
    close: async () => {
      origin.close();
      origin.closeAllConnections();
      await provider.stop();
    },
  };
}
