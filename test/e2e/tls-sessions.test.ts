import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const VISITS = 8;

/** What `openssl s_client` says of one connection. */
function shakeHands(args: readonly string[]): Promise<string> {
  const child = spawn("openssl", ["s_client", ...args], { stdio: ["pipe", "pipe", "ignore"], timeout: 20_000 });
  let text = "";
  child.stdout.on("data", (bytes: Buffer) => (text += bytes.toString()));
  // It ends when the server closes, and has the tickets of TLS 1.3 by then, which come after the handshake.
  child.stdin.write("GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
  return new Promise((resolve) => child.on("close", () => resolve(text)));
}

test("a TLS session goes on at any thread of the edge", { skip: toolOrSkip("openssl") }, async (t) => {
  const selvedge = await startSelvedge({ env: { SELVEDGE_EDGE_WORKERS: "3" } });
  t.after(() => selvedge.stop());
  const { ready, dataDir } = selvedge;
  await succeed(apiCaller(ready)("POST", "/zones", { name: "example.com", account: { id: ready.account_id } }));
  const { host } = new URL(ready.https);
  const session = join(dataDir, "session");
  for (const version of ["-tls1_2", "-tls1_3"]) {
    const to = ["-connect", host, "-servername", "www.example.com", version];
    assert.match(await shakeHands([...to, "-sess_out", session]), /^New, /m);
    // The kernel spreads the connections; that all of them meet one thread has a chance of one in 3^7.
    for (let i = 0; i < VISITS; i++) assert.match(await shakeHands([...to, "-sess_in", session]), /^Reused, /m, version);
  }
});
