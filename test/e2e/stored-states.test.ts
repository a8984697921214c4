import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readState } from "../fixtures/stored-state.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { removeDirectory } from "../support/temporary.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
const states = readdirSync(FIXTURES).filter((name) => /^state-.*\.tar\.gz$/.test(name));

test("a release has left a state directory", () => assert.notEqual(states.length, 0));

for (const name of states)
  test(`this release finds everything in the state directory of ${name.slice("state-".length, -".tar.gz".length)}`, async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), "selvedge-stored-"));
    t.after(() => removeDirectory(dataDir));
    execFileSync("tar", ["-xzf", join(FIXTURES, name), "-C", dataDir, "--no-same-owner"]);
    const selvedge = await startSelvedge({ dataDir });
    t.after(() => selvedge.stop());
    assert.deepEqual(await readState(selvedge), JSON.parse(readFileSync(join(dataDir, "expected.json"), "utf8")));
    assert.equal(selvedge.ready.token, undefined, "the first token is the one that was stored");
  });
