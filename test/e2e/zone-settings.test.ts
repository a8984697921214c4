import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "node:tls";
import { apiCaller, succeed } from "../support/api.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

const NAME = "www.example.com";

/** The response to a visitor over plain HTTP. */
const plainly = (selvedge: Selvedge): Promise<readonly [number | undefined, string | undefined]> =>
  new Promise((resolve, reject) => {
    request(selvedge.ready.http, { path: "/a?b", headers: { host: NAME } }, (res) => {
      res.resume();
      resolve([res.statusCode, res.headers.location]);
    })
      .on("error", reject)
      .end();
  });

/** The version that a visitor and the edge agree upon. */
async function agreed(selvedge: Selvedge, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<string | null> {
  const ca = await readFile(join(selvedge.dataDir, "ca.pem"));
  const port = Number(new URL(selvedge.ready.https).port);
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", servername: NAME, ca, maxVersion }, () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("a setting applies in every thread of the edge once the API has responded, and after a restart", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-settings-"));
  t.after(() => removeDirectory(dataDir));
  const start = (): Promise<Selvedge> => startSelvedge({ dataDir, env: { SELVEDGE_EDGE_WORKERS: "2" } });
  const first = await start();
  let running = first;
  t.after(() => running.stop());
  const call = apiCaller(first.ready);
  const { id } = await succeed(call("POST", "/zones", { name: "example.com", account: { id: first.ready.account_id } }));
  const choose = (items: readonly object[]): Promise<any> => succeed(call("PATCH", `/zones/${id}/settings`, { items }));

  assert.equal((await plainly(first))[0], 530);
  for (let round = 0; round < 5; round++) {
    await choose([
      { id: "always_use_https", value: "on" },
      { id: "min_tls_version", value: "1.3" },
    ]);
    assert.deepEqual(await plainly(first), [301, `https://${NAME}/a?b`]);
    await assert.rejects(agreed(first, "TLSv1.2"), { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
    await choose([
      { id: "always_use_https", value: "off" },
      { id: "min_tls_version", value: "1.2" },
    ]);
    assert.equal((await plainly(first))[0], 530);
    assert.equal(await agreed(first, "TLSv1.2"), "TLSv1.2");
  }

  await choose([
    { id: "always_use_https", value: "on" },
    { id: "tls_1_3", value: "off" },
  ]);
  await first.stop();
  running = await start();
  assert.equal((await plainly(running))[0], 301);
  assert.equal(await agreed(running, "TLSv1.3"), "TLSv1.2");
});
