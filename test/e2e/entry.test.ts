import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { readUntil } from "../support/eventually.ts";
import { FREE_PORTS } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

const root = dirname(dirname(import.meta.dirname));
const entry = join(root, "bin/selvedge.js");

/** Runs the entry script on a Node that says it is another version. */
const startAs = (version: string) => {
  const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`;
  return spawnSync(process.execPath, ["--import", pretend, entry, "--version"], { encoding: "utf8", timeout: 60_000 });
};

test("an old Node.js prints the required version and where to get it", () => {
  for (const version of ["18.20.4", "20.19.0", "24.14.1"]) {
    const { status, stdout, stderr } = startAs(version);
    assert.equal(status, 1, version);
    assert.equal(stdout, "");
    assert.match(stderr, new RegExp(`needs Node\\.js 24\\.15 or newer; this is ${version.replaceAll(".", "\\.")} `));
    assert.match(stderr, /npm start/);
  }
});

test("a recent Node.js runs the command line", () => {
  for (const version of ["24.15.0", "25.0.0"]) {
    const { status, stdout, stderr } = startAs(version);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  }
});

test("a server started by npm stops cleanly with npm", async (t) => {
  const data = await mkdtemp(join(tmpdir(), "selvedge-npm-"));
  t.after(() => removeDirectory(data));
  const npm = spawn("npm", ["start", "--", "--data", data, ...FREE_PORTS, "--json"], { cwd: root, stdio: ["ignore", "ignore", "pipe"] });
  t.after(() => npm.kill("SIGKILL"));
  let log = "";
  npm.stderr.on("data", (bytes: Buffer) => (log += bytes.toString()));
  await readUntil(
    () => log,
    (text) => text.includes('"msg":"ready"'),
  );
  const closed = once(npm.stderr, "close");
  npm.kill("SIGTERM");
  await closed;
  assert.match(log, /"msg":"stopped"/);
});
