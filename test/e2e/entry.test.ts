import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";

const entry = join(dirname(dirname(import.meta.dirname)), "bin/selvedge.js");

/** Runs the entry script on a Node that says it is another version. */
const startAs = (version: string) => {
  const pretend = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`;
  return spawnSync(process.execPath, ["--import", pretend, entry, "--version"], { encoding: "utf8", timeout: 60_000 });
};

test("an old Node is told which one is needed and where it is", () => {
  for (const version of ["18.20.4", "20.19.0", "24.14.1"]) {
    const { status, stdout, stderr } = startAs(version);
    assert.equal(status, 1, version);
    assert.equal(stdout, "");
    assert.match(stderr, new RegExp(`needs Node\\.js 24\\.15 or newer; this is ${version.replaceAll(".", "\\.")} `));
    assert.match(stderr, /npm start/);
  }
});

test("a Node that is new enough runs the command line", () => {
  for (const version of ["24.15.0", "25.0.0"]) {
    const { status, stdout, stderr } = startAs(version);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
  }
});
