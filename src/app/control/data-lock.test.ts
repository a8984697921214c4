import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DataDirectoryBusy, lockDataDirectory } from "./data-lock.ts";

test("a second process is refused, and a killed one leaves no lock", async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "selvedge-lock-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const code = `import { lockDataDirectory } from ${JSON.stringify(new URL("data-lock.ts", import.meta.url).href)};
    // A lock that nothing refers to would go with the next garbage collection.
    globalThis.lock = lockDataDirectory(${JSON.stringify(dataDir)}); console.log("locked"); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  assert.throws(() => lockDataDirectory(dataDir), DataDirectoryBusy);
  child.kill("SIGKILL");
  await once(child, "exit");
  lockDataDirectory(dataDir).release();
});

test("the error names a directory that cannot store state", (t) => {
  const parent = mkdtempSync(join(tmpdir(), "selvedge-lock-"));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const file = join(parent, "file");
  writeFileSync(file, "");
  assert.throws(() => lockDataDirectory(file), {
    name: "Error",
    message: /^cannot keep state in .*file: it is not a directory\. .*--data$/,
  });
  assert.throws(() => lockDataDirectory(join(file, "below")), /it is not a directory/);
  assert.throws(() => lockDataDirectory("/proc/selvedge/state"), /\/proc\/selvedge\/state: it cannot be created/);
  const taken = join(parent, "taken");
  mkdirSync(join(taken, "lock.db"), { recursive: true });
  assert.throws(() => lockDataDirectory(taken), { name: "Error", message: /^cannot keep state in .*taken: unable to open database file/ });
});
