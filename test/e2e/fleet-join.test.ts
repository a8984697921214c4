import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createPlainServer, request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { accountHash } from "#kernel/net/image-urls.ts";
import { succeed } from "../support/api.ts";
import { eventually } from "../support/eventually.ts";
import { fleetCommand, fleetDirectory, type FleetWorld, startFleet } from "../support/fleet.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { toolOrSkip } from "../support/tools.ts";

const execute = promisify(execFile);
const skip = toolOrSkip("nats-server") || toolOrSkip("postgres") || toolOrSkip("openssl");
const SELVEDGE = "bin/selvedge.js";

/** A port with TLS before control, whose certificate a private authority issued. 0.0.0.0 is this machine, but not an address of loopback. */
async function startFront(t: TestContext, world: FleetWorld, directory: string): Promise<{ readonly ca: string; readonly origin: string }> {
  const [ca, key] = [join(directory, "front-ca.pem"), join(directory, "front-key.pem")];
  const make = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=front"];
  execFileSync("openssl", [...make, "-addext", "subjectAltName=IP:0.0.0.0", "-keyout", key, "-out", ca], { stdio: "pipe" });
  const front = createServer({ cert: readFileSync(ca), key: readFileSync(key) }, (asked, answer) => {
    const headers = { ...asked.headers, host: "127.0.0.1" };
    const passed = request(new URL(asked.url ?? "", world.origin), { method: asked.method, headers });
    passed.on("response", (found) => found.pipe(answer.writeHead(found.statusCode ?? 0, found.headers)));
    passed.on("error", () => answer.destroy());
    asked.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(front, "listening");
  t.after(() => {
    front.closeAllConnections();
    front.close();
  });
  return { ca, origin: `https://0.0.0.0:${(front.address() as AddressInfo).port}` };
}

async function tokenOf({ env }: FleetWorld, name: string): Promise<string> {
  const { token } = await fleetCommand(env, "node", "token", "--name", name, "--planes", "edge");
  return token;
}

const busOf = (dataDir: string): string => JSON.parse(readFileSync(join(dataDir, "node.json"), "utf8")).bus.url;

test(
  "a machine joins at a control with a private authority, and hears if it got an address of loopback for the bus",
  { skip },
  async (t) => {
    const world = await startFleet(t);
    const directory = fleetDirectory(t, "front");
    const { ca, origin } = await startFront(t, world, directory);
    const joinAs = (dataDir: string, token: string, ...more: readonly string[]) =>
      execute(process.execPath, [SELVEDGE, "join", origin, token, "--data", dataDir, ...more]);

    const token = await tokenOf(world, "fra-1");
    const dataDir = fleetDirectory(t, "fra-1");
    await assert.rejects(joinAs(dataDir, token), /does not trust the certificate: give the PEM file of its authority with --ca/);
    const other = join(world.controlDir, "ca.pem");
    await assert.rejects(joinAs(dataDir, token, "--ca", other), /the authority in the file of --ca did not issue it/);
    writeFileSync(join(directory, "text"), "no certificate");
    await assert.rejects(joinAs(dataDir, token, "--ca", join(directory, "text")), /--ca .*text is not a PEM file/);
    await assert.rejects(joinAs(dataDir, token, "--ca", join(directory, "missing")), /--ca .*missing is not a PEM file/);
    // None of these has used the token.
    const { stderr } = await joinAs(dataDir, token, "--ca", ca);
    assert.match(stderr, /the bus is at nats:\/\/127\.0\.0\.1:\d+, which on this machine is this machine itself\. Set bus\.url/);

    // The node uses the authority afterwards, too: control answers requests for images.
    const node = await world.start(dataDir);
    const zone = await succeed(world.call("POST", "/zones", { name: "joined.test", account: { id: world.account } }));
    await succeed(world.call("POST", `/zones/${zone.id}/dns_records`, { type: "A", name: "www", content: "127.0.0.1", proxied: true }));
    const path = `/cdn-cgi/imagedelivery/${accountHash(world.account)}/none/public`;
    await eventually(async () => (await statusOf(new URL(path, node.ready.http))) === 404);

    await eventually(async () => {
      const metrics = await (await fetch(new URL("/metrics", node.ready.ops))).text();
      return /^selvedge_node_silent_seconds [0-2](\.|$)/m.test(metrics) && /^selvedge_node_behind 0$/m.test(metrics);
    });
    await eventually(async () => {
      const metrics = await (await fetch(new URL("/metrics", world.origin))).text();
      return ['node_connected{node="fra-1"} 1', 'node_behind{node="fra-1"} 0', 'nodes{status="waiting"} 0'].every((line) =>
        metrics.includes(`selvedge_fleet_${line}\n`),
      );
    });

    // A node has no database, and commands say so.
    const onNode = (...args: readonly string[]) => execute(process.execPath, [SELVEDGE, ...args, "--data", dataDir]);
    await assert.rejects(onNode("nodes"), /is that of the node fra-1, which has no database: use a machine with the role control/);
    await assert.rejects(onNode("doctor", "--rebuild"), /is that of the node fra-1, which has no database/);
    // Its exit code tells of the machine, too.
    const { stdout: report } = await onNode("doctor", "--json").catch((error: { readonly stdout: string }) => error);
    const { findings } = JSON.parse(report) as { readonly findings: readonly { readonly what: string; readonly finding: string }[] };
    const found = new Map(findings.map(({ what, finding }) => [what, finding]));
    assert.match(found.get("node") ?? "", /^fra-1 \(edge\) of control at https:/);
    assert.match(found.get("bus") ?? "", /accepts connections$/);
    assert.deepEqual([found.has("permissions"), found.has("last backup")], [false, false]);

    // Commands that use the API take the authority as well.
    const api = `${origin}/client/v4`;
    const list = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<{ readonly stdout: string }> =>
      execute(process.execPath, [SELVEDGE, "zones", "--api", api, ...args], {
        env: { ...process.env, SELVEDGE_TOKEN: world.token, ...more },
      });
    await assert.rejects(list([]), /cannot reach the API .*does not trust the certificate: give the PEM file of its authority with --ca/);
    await assert.rejects(list(["--ca", other]), /the authority in the file of --ca did not issue it/);
    await assert.rejects(list([], { SELVEDGE_API_CA: join(directory, "text") }), /SELVEDGE_API_CA .*text is not a PEM file/);
    assert.match((await list(["--ca", ca])).stdout, /joined\.test/);
    assert.match((await list([], { SELVEDGE_API_CA: ca })).stdout, /joined\.test/);

    // `node token` says so before the token is used up.
    const made = execute(process.execPath, [SELVEDGE, "node", "token", "--name", "fra-2", "--planes", "edge"], {
      env: { ...process.env, ...world.env, SELVEDGE_BUS_URL: world.nats.url },
    });
    assert.match((await made).stderr, /the node will look for the bus at nats:\/\/127\.0\.0\.1:\d+, which only this machine reaches/);

    const elsewhere = "tls://bus.example.net:4222";
    await world.restartControl(undefined, { SELVEDGE_BUS_NODE_URL: elsewhere });
    const far = fleetDirectory(t, "fra-3");
    const quiet = await joinAs(far, await tokenOf(world, "fra-3"), "--ca", ca);
    assert.deepEqual([busOf(far), quiet.stderr], [elsewhere, ""]);

    // It gets no visitors before it has control's changes, and serves them without control.
    const health = async ({ ready }: Selvedge): Promise<any> => await (await fetch(new URL("/readyz", ready.ops))).json();
    const empty = await world.start(far);
    assert.deepEqual(await health(empty), { status: "not ready", reasons: ["this node has no copy of control's changes yet"] });
    await empty.stop();
    const full = await world.start(far, { SELVEDGE_BUS_URL: world.nats.url });
    await eventually(async () => (await health(full)).status === "ready");
    await world.nats.kill();
    await full.logged(/the bus is away/);
    assert.equal((await health(full)).status, "ready");
    await world.nats.start();

    // Plain HTTP is accepted on this machine, by each of its addresses.
    for (const host of ["[::1]", "127.0.0.2", "localhost"])
      await assert.rejects(
        execute(process.execPath, [SELVEDGE, "join", `http://${host}:1`, token, "--data", fleetDirectory(t, "near")]),
        /cannot reach control/,
      );
  },
);

test("join says which server did not answer as control does, and whether the token still counts", { skip }, async (t) => {
  let [status, body] = [200, "<html>another server</html>"];
  const other = createPlainServer((asked, answer) => {
    asked.resume();
    answer.writeHead(status).end(body);
  }).listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const origin = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const dataDir = fleetDirectory(t, "nowhere");
  const joined = () => execute(process.execPath, [SELVEDGE, "join", origin, "sn1.token", "--data", dataDir]);
  await assert.rejects(joined(), /is not a server with the role control: check the URL/);
  [status, body] = [200, "null"];
  await assert.rejects(joined(), /is not a server with the role control: check the URL/);
  status = 404;
  await assert.rejects(joined(), /does not admit nodes: it is not a server with the role control/);
  status = 503;
  await assert.rejects(joined(), /cannot admit nodes now \(HTTP 503\)\. Try again with the same token/);
  status = 401;
  await assert.rejects(joined(), /does not accept the token/);
});

async function statusOf(url: URL): Promise<number> {
  const asked = request(url, { headers: { host: "www.joined.test" }, agent: false });
  asked.end();
  const [answer] = await once(asked, "response");
  answer.resume();
  return answer.statusCode;
}
