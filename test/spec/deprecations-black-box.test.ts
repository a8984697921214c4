import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const SCRIPT = join(dirname(dirname(import.meta.dirname)), "tools/deprecations-black-box.ts");

// Without the option, the script starts a server for each of 52 days.
test("SPEC 9: a script that knows only HTTP sees the older behaviour of every row the day before its date, and the newer one on it", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, "--by-header"]).catch(
    (error: { readonly stdout: string }) => error,
  );
  const lines = stdout.trimEnd().split("\n");
  assert.equal(lines.at(-1), "all rows are whole", stdout);
  assert.deepEqual([lines.filter((line) => line.startsWith("ok ")).length, lines.length], [30, 31]);
});
