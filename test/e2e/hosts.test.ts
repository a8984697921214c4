import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { mkdtemp, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { IncomingMessage } from "node:http";
import { eventually } from "../support/eventually.ts";
import { layNetwork } from "../support/network-namespaces.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

/** A request under another Host field, as a page whose name was led here makes a browser send it. */
async function ask(
  base: string,
  path: string,
  host: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; body: string }> {
  const asked = request(new URL(path, base), { headers: { ...headers, host }, agent: false });
  asked.end();
  const [answer] = (await Promise.race([once(asked, "response"), once(asked, "upgrade")])) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, body: await text(answer) };
}

const OPERATIONS = ["/metrics", "/livez", "/readyz", "/healthz", "/statusz"];

test("API, gateway and operations answer only to names of this machine, and to names that the operator adds at run time", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "selvedge-hosts-"));
  t.after(() => removeDirectory(dir));
  const config = join(dir, "selvedge.toml");
  await writeFile(config, "");
  const selvedge = await startSelvedge({ args: ["--config", config] });
  t.after(() => selvedge.stop());
  const { api, gateway, ops, token = "" } = selvedge.ready;
  const authorization = { authorization: `Bearer ${token}` };
  const places = [
    [api, "/client/v4/user/tokens/verify", 200, '"code":10421'],
    [gateway, "/v1/none/none/openai/models", 400, '"code":2921'],
    [ops, "/readyz", 200, "api.allowed_hosts"],
  ] as const;
  for (const [base, path, status, refusal] of places) {
    const port = new URL(base).port;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, "LOCALHOST."])
      assert.equal((await ask(base, path, host, authorization)).status, status, host);
    for (const host of [`rebind.example:${port}`, "rebind.example", `192.0.2.1:${port}`, "localhost.rebind.example", ".", `:${port}`]) {
      const refused = await ask(base, path, host, authorization);
      assert.deepEqual([refused.status, refused.body.includes(refusal)], [421, true], `${base} ${host}: ${refused.body}`);
    }
  }
  for (const base of [api, ops])
    for (const head of ["GET http://rebind.example/livez HTTP/1.0", "GET /livez HTTP/1.1\r\nHost:", "GET /livez HTTP/1.0\r\nHost: "]) {
      const socket = connect(Number(new URL(base).port), "127.0.0.1");
      socket.end(`${head}\r\n\r\n`);
      assert.match(await text(socket), /^HTTP\/1\.1 421 /, `${base}: ${head}`);
    }
  const upgrade = {
    connection: "upgrade",
    upgrade: "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
  };
  assert.equal((await ask(gateway, "/v1/none/none/openai/realtime", "rebind.example", upgrade)).status, 421);

  await writeFile(config, '[api]\nallowed_hosts = ["proxy.example", "*.inside.example"]\nopenapi = false\n');
  assert.equal((await ask(api, "/client/v4/openapi.json", "localhost")).status, 200);
  process.kill(selvedge.pid, "SIGHUP");
  for (const [base, path, status] of places)
    await eventually(
      async () =>
        (await ask(base, path, "proxy.example", authorization)).status === status &&
        (await ask(base, path, "a.inside.example", authorization)).status === status,
    );
  assert.equal((await ask(api, "/client/v4/openapi.json", "localhost")).status, 404);
  // A proxy on this machine that passes everything on.
  for (const path of OPERATIONS) {
    const passed = await ask(api, path, "proxy.example");
    assert.deepEqual([passed.status, passed.body.includes('"code":10422')], [404, true], path);
    assert.equal((await ask(api, path, "127.0.0.1")).status, 200, path);
    assert.equal((await ask(ops, path, "127.0.0.1")).status, 200, path);
  }
  assert.equal((await ask(ops, "/client/v4/zones", "127.0.0.1")).status, 404);
});

test("a public API serves no metrics and no health checks, and the operations listener serves both", async (t) => {
  // Listeners there are not reachable from outside.
  const network = await layNetwork(t, ["host"], []);
  if ("skip" in network) return t.skip(network.skip);
  const dir = await mkdtemp(join(tmpdir(), "selvedge-hosts-"));
  t.after(() => removeDirectory(dir));
  const program = join(import.meta.dirname, "../../bin/selvedge.js");
  const flags =
    "--api-port 18780 --ops-port 18782 --gateway-port 0 --dns-port 0 --http-port 0 --https-port 0 --api-host 0.0.0.0 --insecure-bind --json";
  const asked = OPERATIONS.flatMap((path) => [`http://127.0.0.1:18780${path}`, `http://127.0.0.1:18782${path}`]);
  const script = `${process.execPath} ${program} start --data ${dir}/state ${flags} > ${dir}/out 2> ${dir}/err & server=$!
    for i in $(seq 600); do grep -q ready ${dir}/out && break; kill -0 $server || break; sleep 0.1; done
    for url in ${asked.join(" ")}; do curl -s -o /dev/null -w '%{http_code} ' $url; done
    ${process.execPath} ${program} status --data ${dir}/state
    kill $server; wait $server`;
  const printed = await network.host.run("sh", "-c", script);
  assert.match(printed, /^(404 200 ){5}status +ready$/m);
});
