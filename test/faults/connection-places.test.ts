import { mkdtempSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { eventually } from "../support/eventually.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

// Each connection takes one of the file descriptors of the process. Without them the edge accepts nobody and the logs cannot be
// written, so one address must not get as many as it opens, at any listener. Those that never finish a TLS handshake do not
// delay the end of the process either.

const MOST = 20;
const LIMITS = ["api", "gateway", "edge"].flatMap((listener) => [`--${listener}-connections-per-address-max`, String(MOST)]);

/** Opens connections from one address; gives how many of them the server has not closed. */
function flood(t: TestContext, port: number, localAddress: string): () => number {
  const open = new Set<Socket>();
  for (let i = 0; i < 3 * MOST; i++) {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    open.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => open.delete(socket));
    socket.resume();
  }
  t.after(() => open.forEach((socket) => socket.destroy()));
  return () => open.size;
}

async function certificate(t: TestContext): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-places-"));
  t.after(() => removeDirectory(directory));
  const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
  const { chain, privateKey } = await ca.issue(["localhost"]);
  writeFileSync(join(directory, "chain.pem"), chain);
  writeFileSync(join(directory, "key.pem"), privateKey);
  return ["--tls-certificate", join(directory, "chain.pem"), "--tls-key", join(directory, "key.pem")];
}

async function flooded(t: TestContext, secure: boolean): Promise<void> {
  const selvedge = await startSelvedge({ args: [...LIMITS, ...(secure ? await certificate(t) : [])] });
  t.after(() => selvedge.stop(30_000));
  const { api, gateway, http } = selvedge.ready;
  const sizes: (() => number)[] = [];
  for (const url of [api, gateway, http]) {
    const port = Number(new URL(url ?? "").port);
    const [first, second] = ["127.0.0.2", "127.0.0.3"].map((address) => flood(t, port, address));
    await eventually(() => first?.() === MOST && second?.() === MOST);
    if (first !== undefined && secure && url !== http) sizes.push(first);
  }
  await eventually(() => sizes.every((size) => size() === 0));
}

test("one address gets a limited number of connections at API, gateway and edge", (t) => flooded(t, false));

test("connections that never finish a TLS handshake are limited and closed, and the process ends despite them", (t) => flooded(t, true));
