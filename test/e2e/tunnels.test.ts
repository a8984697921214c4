import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { eventually } from "../support/eventually.ts";
import { type Host, layNetwork } from "../support/network-namespaces.ts";

const ROOT = dirname(dirname(import.meta.dirname));
const PROGRAM = join(ROOT, "bin/selvedge.js");
const SERVICE = `require("http").createServer((asked, answer) => answer.end("office " + asked.url)).listen(9000, "127.0.0.1", () => console.log("{}"))`;

interface Started {
  readonly child: ChildProcess;
  /** Its first line of output. */
  readonly ready: any;
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts a program of Node.js on the host, and waits for its first line. */
async function startOn(t: TestContext, host: Host, args: readonly string[]): Promise<Started> {
  const child = host.spawn(args, { SELVEDGE_WAF_CRS_DIRECTORY: "none" });
  t.after(() => child.kill("SIGKILL"));
  let log = "";
  child.stderr.on("data", (part: Buffer) => (log = (log + part.toString()).slice(-10_000)));
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const line = once(createInterface({ input: child.stdout }), "line").then(([text]) => String(text));
  const first = await Promise.race([line, exited.then((code) => Promise.reject(new Error(`ended with ${code}: ${log}`)))]);
  return {
    child,
    ready: JSON.parse(first),
    end: (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}

test("a service without a reachable port is reached through its connector, which outlives a restart of the edge", async (t) => {
  const network = await layNetwork(
    t,
    ["edge", "office"],
    [
      [
        { host: "edge", addresses: ["10.77.0.1/24"] },
        { host: "office", addresses: ["10.77.0.2/24"] },
      ],
    ],
  );
  if ("skip" in network) return t.skip(String(network.skip));
  const { edge, office } = network;
  const data = await mkdtemp(join(tmpdir(), "selvedge-tunnels-"));
  t.after(() => rm(data, { recursive: true, force: true }));
  const ports = ["--api-port", "8780", "--gateway-port", "8781", "--dns-port", "5300", "--http-port", "8080", "--https-port", "8443"];
  const server = () =>
    startOn(t, edge, [PROGRAM, "start", "--data", data, ...ports, "--edge-host", "10.77.0.1", "--insecure-bind", "--json"]);
  const first = await server();
  const { account_id: account, token } = first.ready;
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const given = body === undefined ? [] : ["-d", JSON.stringify(body), "-H", "content-type: application/json"];
    const url = `http://127.0.0.1:8780/client/v4${path}`;
    const { success, result, errors } = JSON.parse(
      await edge.run("curl", "-sS", "-X", method, "-H", `Authorization: Bearer ${token}`, ...given, url),
    );
    assert.ok(success, JSON.stringify(errors));
    return result;
  };
  const zone = await call("POST", "/zones", { name: "example.com", account: { id: account } });
  const tunnel = await call("POST", `/accounts/${account}/cfd_tunnel`, { name: "office", config_src: "cloudflare" });
  const ingress = [{ hostname: "app.example.com", service: "http://127.0.0.1:9000" }, { service: "http_status:404" }];
  await call("PUT", `/accounts/${account}/cfd_tunnel/${tunnel.id}/configurations`, { config: { ingress } });
  const record = { type: "CNAME", name: "app", content: `${tunnel.id}.tunnel.internal`, proxied: true };
  assert.equal((await call("POST", `/zones/${zone.id}/dns_records`, record)).meta.managed_by_svc_tunnel, true);
  const secret = await call("GET", `/accounts/${account}/cfd_tunnel/${tunnel.id}/token`);

  await startOn(t, office, ["-e", SERVICE]);
  await assert.rejects(edge.run("curl", "-sS", "--max-time", "5", "http://10.77.0.2:9000/"), "nothing listens for the edge");
  const visit = (): Promise<string> => edge.run("curl", "-sS", "-H", "Host: app.example.com", "http://10.77.0.1:8080/page");
  const connector = () => startOn(t, office, [PROGRAM, "tunnel", "run", secret, "--edge", "10.77.0.1:8443"]);
  assert.match(await visit(), /1033/);
  const one = await connector();
  assert.equal(one.ready.event, "connected");
  assert.equal(await visit(), "office /page");
  const shown = (): Promise<any> => call("GET", `/accounts/${account}/cfd_tunnel/${tunnel.id}`);
  await eventually(async () => (await shown()).status === "healthy");
  const [{ id, conns }] = await call("GET", `/accounts/${account}/cfd_tunnel/${tunnel.id}/connections`);
  assert.equal(conns[0].origin_ip, "10.77.0.2");
  // A connection stands before its connector has said which rules it uses.
  await eventually(async () => (await call("GET", `/accounts/${account}/cfd_tunnel/${tunnel.id}/connectors/${id}`)).config_version === 1);

  await one.end("SIGKILL");
  await eventually(async () => (await visit()).includes("1033") && (await shown()).status === "down");
  const two = await connector();
  assert.equal(await visit(), "office /page");
  assert.equal(await first.end("SIGTERM"), 0);
  await server();
  await eventually(async () => (await visit().catch(() => "")) === "office /page");
  assert.equal(await two.end("SIGTERM"), 0);
  await eventually(async () => (await visit()).includes("1033"));
});
