import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import type { ReadyLine } from "#app/operations/ready.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { askTcp, askUdp, queryFor } from "../support/dns-client.ts";
import { FREE_PORTS } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const program = join(dirname(dirname(import.meta.dirname)), "bin/selvedge.js");

/** Opens a socket for each name and runs the rest of the arguments with them, as systemd does (sd_listen_fds(3)). */
const LAUNCHER = `
import fcntl, os, socket, sys
names, blocking = sys.argv[1].split(":"), sys.argv[2] == "blocking"
ports = []
for number, name in enumerate(names):
    names[number], _, address = (name + "@" if "@" not in name else name).partition("@")
    kind = socket.SOCK_DGRAM if names[number] == "dns-udp" else socket.SOCK_STREAM
    one = socket.socket(socket.AF_INET, kind)
    one.bind((address or "127.0.0.1", 0))
    if kind == socket.SOCK_STREAM: one.listen(64)
    one.setblocking(blocking)
    ports.append(str(one.getsockname()[1]))
    fcntl.fcntl(one.detach(), fcntl.F_DUPFD, 100)
for number in range(len(names)): os.dup2(100 + number, 3 + number, inheritable=True)
print("ports " + " ".join(ports), flush=True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(names)), LISTEN_FDNAMES=":".join(names))
os.execv(sys.argv[3], sys.argv[3:])
`;

async function launch(t: TestContext, names: readonly string[], mode = "non-blocking", flags: readonly string[] = []) {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-activation-"));
  const command = [process.execPath, program, "start", "--data", dataDir, "--ops-port", "0", ...FREE_PORTS, ...flags, "--json"];
  const child = spawn("python3", ["-c", LAUNCHER, names.join(":"), mode, ...command], { stdio: ["ignore", "pipe", "pipe"] });
  const exit = once(child, "exit");
  t.after(async () => {
    child.kill("SIGKILL");
    await exit;
    await removeDirectory(dataDir);
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ports = String((await lines.next()).value)
    .split(" ")
    .slice(1)
    .map(Number);
  return { child, exit, ports, ready: async () => JSON.parse(String((await lines.next()).value)) as ReadyLine, errors: () => errors };
}

const skip = toolOrSkip("python3");

test("the server listens on the sockets that systemd opened, whatever ports the configuration has", { skip }, async (t) => {
  const names = ["api", "ops", "gateway", "http", "https", "dns-udp", "dns-tcp", "dot"];
  const { child, exit, ports, ready } = await launch(t, names);
  const [api, ops, gateway, http, https, dnsUdp, dnsTcp, dot] = ports as [number, number, number, number, number, number, number, number];
  const line = await ready();
  assert.equal(new URL(line.api).port, String(api));
  assert.equal(new URL(line.gateway).port, String(gateway));
  assert.equal(new URL(line.https).port, String(https));
  assert.equal(line.dot, `127.0.0.1:${dot}`);
  assert.equal((await fetch(`http://127.0.0.1:${ops}/livez`)).status, 200);
  assert.equal((await fetch(`http://127.0.0.1:${http}/`)).status >= 400, true, "an edge without zones");
  const query = queryFor("nowhere.example.", TYPE.A, 7);
  for (const [answer] of [await askUdp(dnsUdp, [query]), await askTcp(dnsTcp, [query])]) assert.equal(answer?.readUInt16BE(0), 7);
  child.kill("SIGTERM");
  assert.deepEqual(await exit, [0, null]);
});

test("each address of a listener can have a socket of systemd, and the server opens those of the others", { skip }, async (t) => {
  const hosts = ["--edge-host", "127.0.0.1", "--edge-host", "127.0.0.2", "--edge-host", "127.0.0.3"];
  const { ports, ready } = await launch(t, ["http@127.0.0.2", "http"], "non-blocking", hosts);
  const { http, further } = await ready();
  assert.equal(http, `http://127.0.0.1:${ports[1]}`);
  assert.deepEqual(further?.["http"], [`http://127.0.0.2:${ports[0]}`, `http://127.0.0.3:${ports[1]}`]);
  for (const url of [http, ...(further?.["http"] ?? [])]) assert.equal((await fetch(url)).status >= 400, true, url);
});

test("sockets that no listener uses are an error that says what to set", { skip }, async (t) => {
  const unknown = await launch(t, ["web", "http", "http"]);
  assert.deepEqual((await unknown.exit)[0], 2);
  assert.match(
    unknown.errors(),
    /systemd passed a socket with the name web: set FileDescriptorName= to one of api, ops, gateway, http, https, dns-udp, dns-tcp, dot/,
  );
  assert.match(unknown.errors(), /systemd passed two sockets with the name http at 127\.0\.0\.1: one address has one socket/);
  const blocking = await launch(t, ["http"], "blocking");
  assert.deepEqual((await blocking.exit)[0], 2);
  const elsewhere = await launch(t, ["http"], "non-blocking", ["--edge-host", "127.0.0.2"]);
  assert.deepEqual((await elsewhere.exit)[0], 2);
  assert.match(
    elsewhere.errors(),
    /systemd's socket http listens on 127\.0\.0\.1, and edge\.host is 127\.0\.0\.2: set both to the same address/,
  );
  assert.match(blocking.errors(), /systemd passed the socket http as a blocking one: set NonBlocking=true in the unit of the service/);
});
