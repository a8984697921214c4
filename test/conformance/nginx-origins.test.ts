import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { startNginx } from "../bench/nginx.ts";
import { freePort } from "../bench/program.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { runClient } from "../support/client.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const skip = toolOrSkip("nginx") || toolOrSkip("curl");

/** Properties of a request as nginx saw it. */
const SAID = "$scheme $server_protocol $ssl_server_name. $host $http_x_forwarded_for $http_x_forwarded_proto $http_x_forwarded_host.";

test("nginx works as the origin over HTTP and HTTPS, by the zone's SSL mode and by an origin rule", { skip }, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-nginx-"));
  const root = await createRoot(systemClock);
  const leaf = await createLocalCa({ root, clock: systemClock }).issue(["inside.example"]);
  const files = { root: join(directory, "root.pem"), chain: join(directory, "chain.pem"), key: join(directory, "key.pem") };
  await writeFile(files.root, root.certificate);
  await writeFile(files.chain, leaf.chain);
  await writeFile(files.key, leaf.privateKey);
  const [plain, secure] = [await freePort(), await freePort()];
  await writeFile(join(directory, "big"), Buffer.alloc(5_000_000, "0123456789"));
  const nginx = await startNginx(directory, {
    name: "origin",
    port: plain,
    server: `
      listen 127.0.0.1:${secure} ssl;
      ssl_certificate ${files.chain}; ssl_certificate_key ${files.key};
      keepalive_requests 3; client_max_body_size 10m;
      location / { return 200 "${SAID}"; }
      location /big { root ${directory}; }`,
  });
  // The machine's own roots cannot be changed by a test; this is one more of them.
  const selvedge = await startSelvedge({ env: { NODE_EXTRA_CA_CERTS: files.root } });
  t.after(async () => {
    await selvedge.stop();
    await nginx.stop();
    await rm(directory, { recursive: true });
  });
  const { ready, dataDir } = selvedge;
  const call = apiCaller(ready);
  const zone = await succeed(call("POST", "/zones", { name: "example.com", account: { id: ready.account_id } }));
  const zonePath = `/zones/${zone.id}`;
  await succeed(call("POST", `${zonePath}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true, ttl: 1 }));
  const route = (expression: string, port: number, more: object = {}) => ({
    action: "route",
    expression,
    action_parameters: { origin: { port }, ...more },
  });
  const mode = async (ssl: string, more: object = {}): Promise<void> => {
    await succeed(call("PATCH", `${zonePath}/settings/ssl`, { value: ssl }));
    const rules = [route("not ssl", plain), route("ssl", ssl === "flexible" ? plain : secure, more)];
    await succeed(call("PUT", `${zonePath}/rulesets/phases/http_request_origin/entrypoint`, { rules }));
  };
  const visit = (scheme: "http" | "https", path = "/", ...args: readonly string[]): Promise<string> => {
    const { port } = new URL(ready[scheme]);
    const to = ["--connect-to", `www.example.com:${port}:127.0.0.1:${port}`, "--cacert", join(dataDir, "ca.pem")];
    return runClient("curl", ["-sS", "--max-time", "120", ...to, ...args, `${scheme}://www.example.com:${port}${path}`]);
  };
  const https = new URL(ready.https).port;

  await mode("flexible");
  assert.equal(await visit("https"), `http HTTP/1.1 . www.example.com 127.0.0.1 https .`);
  await mode("full");
  assert.equal(await visit("http"), `http HTTP/1.1 . www.example.com 127.0.0.1 http .`);
  assert.equal(await visit("https"), `https HTTP/1.1 www.example.com. www.example.com 127.0.0.1 https .`);
  await mode("strict");
  assert.match(await visit("https", "/", "-H", "Accept: application/json"), /"code":526/);
  await mode("strict", { sni: { value: "inside.example" } });
  assert.equal(await visit("https"), `https HTTP/1.1 inside.example. www.example.com 127.0.0.1 https .`);
  await mode("strict", { host_header: "inside.example" });
  assert.equal(await visit("https"), `https HTTP/1.1 inside.example. inside.example 127.0.0.1 https www.example.com:${https}.`);

  // nginx ends each connection after its third request; none is lost, whatever the protocol and the method.
  const urls = Array.from({ length: 30 }, () => `https://www.example.com:${https}/`);
  for (const args of [
    ["-X", "GET"],
    ["--http1.1", "-d", "hello"],
    ["--http2", "-d", "hello"],
  ]) {
    const codes = await visit(
      "https",
      "/",
      ...args,
      "-o",
      "/dev/null",
      "-w",
      "%{http_code} ",
      ...urls.flatMap((url) => ["-o", "/dev/null", url]),
    );
    assert.equal(
      codes
        .trim()
        .split(" ")
        .filter((code) => code === "200").length,
      31,
      args.join(" "),
    );
  }
  assert.equal(await visit("https", "/big", "-o", "/dev/null", "-w", "%{http_code} %{size_download}"), "200 5000000");
  assert.equal(await visit("https", "/big", "-r", "4999990-", "--http1.1"), "0123456789");
  const upload = ["-T", join(directory, "big"), "-o", "/dev/null", "-w", "%{http_code} %{size_upload}"];
  assert.match(await visit("https", "/big", ...upload), /^405 5000000$|^405 /);
});
