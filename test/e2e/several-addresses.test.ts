import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { promisify } from "node:util";
import type { ReadyLine } from "#app/operations/ready.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { askTcp, askUdp, queryFor } from "../support/dns-client.ts";
import { eventually, PATIENCE_MS } from "../support/eventually.ts";
import { skipWithoutIpv6 } from "../support/ipv6.ts";
import { startSelvedge } from "../support/selvedge.ts";

const program = join(dirname(dirname(import.meta.dirname)), "bin/selvedge.js");
const run = promisify(execFile);
const both = (listener: string): string[] => [`--${listener}-host`, "127.0.0.1", `--${listener}-host`, "::1"];

/** All addresses of each kind of listener. */
const all = (ready: ReadyLine, listener: "api" | "ops" | "gateway" | "dns" | "http"): readonly string[] => [
  ready[listener],
  ...(ready.further?.[listener] ?? []),
];

async function answersEverywhere(ready: ReadyLine): Promise<void> {
  const urls = [...all(ready, "http"), ...all(ready, "gateway"), ...all(ready, "api"), ...all(ready, "ops").map((url) => `${url}/livez`)];
  assert.equal(urls.length, 8);
  for (const url of urls) assert.ok((await fetch(url)).status >= 200, url);
  const dns = all(ready, "dns");
  assert.equal(dns.length, 2);
  for (const [i, address] of dns.entries()) {
    const host = ["127.0.0.1", "::1"][i]!;
    const port = Number(address.slice(address.lastIndexOf(":") + 1));
    const query = queryFor("nowhere.example.", TYPE.A, 7);
    for (const [answer] of [await askUdp(port, [query], PATIENCE_MS, host), await askTcp(port, [query], PATIENCE_MS, host)])
      assert.equal(answer?.readUInt16BE(0), 7, address);
  }
}

test(
  "listeners accept clients at several addresses, several threads included, and a restart hands all of them over",
  { skip: skipWithoutIpv6 },
  async (t) => {
    const workers = ["--edge-workers", "2", "--dns-workers", "2"];
    const wildcards = ["--dns-host", "0.0.0.0", "--dns-host", "::", "--insecure-bind"];
    const args = [...both("api"), ...both("ops"), ...both("gateway"), ...both("edge"), ...wildcards, ...workers];
    const selvedge = await startSelvedge({ args });
    t.after(() => selvedge.kill());
    const { ready } = selvedge;
    await answersEverywhere(ready);
    const status = async (): Promise<ReadyLine> => {
      const { stdout } = await run(process.execPath, [program, "status", "--data", selvedge.dataDir, "--json"]);
      return JSON.parse(stdout) as ReadyLine;
    };
    assert.deepEqual((await status()).further, ready.further);
    const text = (await run(process.execPath, [program, "status", "--data", selvedge.dataDir])).stdout;
    assert.match(text, /^gateway\s+http:\/\/127\.0\.0\.1:\d+, http:\/\/\[::1\]:\d+$/m);
    await run(process.execPath, [program, "restart", "--data", selvedge.dataDir]);
    await eventually(() => selvedge.log().includes('"msg":"stopped"'));
    const after = await status();
    assert.deepEqual(
      { further: after.further, dns: after.dns, http: after.http },
      { further: ready.further, dns: ready.dns, http: ready.http },
    );
    await answersEverywhere(after);
    assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
  },
);

test("without the native transport, listeners accept clients at several addresses too", { skip: skipWithoutIpv6 }, async (t) => {
  const args = [...["api", "ops", "gateway", "edge", "dns"].flatMap(both), "--runtime-native", "off"];
  const selvedge = await startSelvedge({ args });
  t.after(() => selvedge.kill());
  await answersEverywhere(selvedge.ready);
  assert.deepEqual(await selvedge.stop(), { code: 0, signal: null });
});

test("an address that cannot be had is named with the reason, and the start leaves nothing open", async (t) => {
  const taken = createServer().listen(0, "127.0.0.2");
  t.after(() => taken.close());
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  for (const [listener, extra] of [
    ["edge", `--http-port=${port}`],
    ["dns", `--dns-port=${port}`],
    ["gateway", `--gateway-port=${port}`],
    ["api", `--api-port=${port}`],
    ["ops", `--ops-port=${port}`],
  ] as const)
    await assert.rejects(
      startSelvedge({ args: [`--${listener}-host`, "127.0.0.1", `--${listener}-host`, "127.0.0.2", extra] }),
      new RegExp(`cannot listen on 127\\.0\\.0\\.2:${port} \\(EADDRINUSE\\): another program uses it`),
      listener,
    );
});

test("DNS over TLS uses 853 where it may, and otherwise another port, with the reason in the log", async (t) => {
  const taken = createServer();
  taken.on("error", () => undefined).listen(853, "127.0.0.7");
  t.after(() => taken.close());
  const selvedge = await startSelvedge({ args: ["--dns-host", "127.0.0.7", "--dns-host", "127.0.0.8"] });
  t.after(() => selvedge.kill());
  const others = selvedge.ready.further?.["dot"] ?? [];
  assert.notEqual(selvedge.ready.dot, "127.0.0.7:853");
  await selvedge.logged(/"wanted_port":853,"reason":"[^"]*(?:EADDRINUSE|EACCES)[^"]*","msg":"DNS over TLS uses another port"/);
  if (taken.listening) assert.deepEqual(others, ["127.0.0.8:853"]);
  await selvedge.stop();
});
