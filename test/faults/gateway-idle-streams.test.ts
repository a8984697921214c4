import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { eventually } from "../support/eventually.ts";
import { api, startSelvedge } from "../support/selvedge.ts";

/** Files of the gateway's process besides one connection to each client and one to its provider. */
const OTHER_FILES = 600;
const filesMax = Number(execFileSync("sh", ["-c", "ulimit -Hn"], { encoding: "utf8" }).trim().replace("unlimited", "1000000"));
const STREAMS = Math.min(10_000, Math.floor((filesMax - OTHER_FILES) / 2));
const AT_ONCE = 100;
/** A stream that rests takes some kilobytes; this is far more, and far less than a buffer for each would take. */
const STREAM_BYTES_MAX = 64 * 1024;

/**
 * Begins a stream for each request and continues all of them on command. In a separate process, because of the number of
 * files.
 */
const PROVIDER = `
const chunk = (text) => text.length.toString(16) + "\\r\\n" + text + "\\r\\n";
const event = (content, finish) => "data: " + JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] }) + "\\n\\n";
const sockets = [];
require("node:net").createServer((socket) => {
  socket.on("error", () => undefined);
  socket.once("data", () => {
    sockets.push(socket);
    socket.write("HTTP/1.1 200 OK\\r\\ncontent-type: text/event-stream\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n" + chunk(event("Hi", null)));
  });
}).listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, function () { console.log(this.address().port); });
process.stdin.once("data", () => {
  for (const socket of sockets) socket.end(chunk(event("", "stop") + "data: [DONE]\\n\\n") + "0\\r\\n\\r\\n");
});
process.stdin.once("end", () => process.exit());
`;

const residentBytes = (pid: number): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;

/** A client that waits for its stream's first event, and then for its end. */
function openStream(
  port: number,
  path: string,
): { readonly begun: Promise<void>; readonly over: Promise<string>; readonly socket: Socket } {
  const socket = connect(port, "127.0.0.1");
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  let text = "";
  socket.on("error", (error) => [begun, over].forEach(({ reject }) => reject(error)));
  socket.on("data", (bytes: Buffer) => {
    text += bytes.toString("latin1");
    if (text.includes('"Hi"')) begun.resolve();
    if (text.endsWith("0\r\n\r\n")) {
      over.resolve(text);
      socket.destroy();
    }
  });
  socket.on("close", () => [begun, over].forEach(({ reject }) => reject(new Error(`closed after ${text}`))));
  over.promise.catch(() => undefined);
  const body = JSON.stringify({ model: "gpt-4o-mini", stream: true, messages: [{ role: "user", content: "hello" }] });
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  return { begun: begun.promise, over: over.promise, socket };
}

test(`${STREAMS} idle streams need bounded memory, other requests are served meanwhile, and each stream ends with its row`, async (t) => {
  const provider = spawn(process.execPath, ["-e", PROVIDER], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => provider.kill());
  const [address] = (await once(createInterface(provider.stdout), "line")) as [string];
  const selvedge = await startSelvedge({
    args: ["--provider", `openai=http://127.0.0.1:${address}/v1`, "--gateway-connections-per-address-max", "0"],
  });
  t.after(() => selvedge.stop());
  const { account_id, token, gateway, pid } = selvedge.ready;
  const gateways = `/accounts/${account_id}/ai-gateway/gateways`;
  const settings = { cache_invalidate_on_update: false, cache_ttl: null, rate_limiting_interval: null, rate_limiting_limit: null };
  assert.equal((await api(selvedge, token ?? "", "POST", gateways, { id: "gw", collect_logs: true, ...settings })).status, 200);
  const open = () => openStream(Number(new URL(gateway).port), `/v1/${account_id}/gw/openai/chat/completions`);

  const first = Array.from({ length: AT_ONCE }, open);
  await Promise.all(first.map(({ begun }) => begun));
  const before = residentBytes(pid);
  const streams = [...first];
  while (streams.length < STREAMS) {
    const more = Array.from({ length: Math.min(AT_ONCE, STREAMS - streams.length) }, open);
    await Promise.all(more.map(({ begun }) => begun));
    streams.push(...more);
  }
  const each = (residentBytes(pid) - before) / (STREAMS - AT_ONCE);
  assert.ok(each < STREAM_BYTES_MAX, `${Math.round(each)} bytes a stream`);
  t.diagnostic(`${Math.round(each)} bytes a stream`);

  const refused = await fetch(`${gateway}/v1/${account_id}/gw/none-such/x`, { method: "POST", body: "{}" });
  assert.equal(refused.status, 400, "others are served");
  await refused.text();

  provider.stdin.write("end");
  const texts = await Promise.all(streams.map(({ over }) => over));
  assert.ok(texts.every((text) => text.includes("[DONE]")));
  const total = async (): Promise<number> => {
    const { body } = await api(selvedge, token ?? "", "GET", `${gateways}/gw/logs?per_page=1`);
    return (body as { result_info: { total_count: number } }).result_info.total_count;
  };
  await eventually(async () => (await total()) === STREAMS, 100);
});
