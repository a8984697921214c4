import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startSelvedge } from "../support/selvedge.ts";

test("a failed first start leaves the token to the next start, and later starts print none", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-first-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  t.after(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  await assert.rejects(startSelvedge({ dataDir, args: ["--api-port", String(port)] }), /EADDRINUSE/);

  const second = await startSelvedge({ dataDir });
  const token = second.ready.token ?? "";
  assert.match(token, /^\S{40}$/);
  const answer = await fetch(`${second.ready.api}/user/tokens/verify`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  assert.deepEqual(await second.stop(), { code: 0, signal: null });

  const third = await startSelvedge({ dataDir });
  assert.equal("token" in third.ready, false);
  await third.stop();
  for (const file of ["control.db", "snapshot.last-good"])
    assert.equal(readFileSync(join(dataDir, file)).includes(token), false, `${file} has the token in the clear`);
});

test("a stop right after the ready line exits cleanly", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-first-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const ports = ["api", "gateway", "dns", "http", "https"].flatMap((plane) => [`--${plane}-port`, "0"]);
  const program = join(import.meta.dirname, "../../bin/selvedge.js");
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const child = spawn(process.execPath, [program, "start", "--data", dataDir, ...ports, "--json"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    t.after(() => child.kill("SIGKILL"));
    child.stdout.once("data", () => child.kill(signal));
    assert.deepEqual(await once(child, "exit"), [0, null], signal);
  }
});
