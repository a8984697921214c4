import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type TestContext, test } from "node:test";
import { Worker } from "node:worker_threads";
import { promisify } from "node:util";
import { stranger } from "../support/installed-package.ts";

const execute = promisify(execFile);
const root = dirname(dirname(import.meta.dirname));

const MAIN = `import { existsSync } from "node:fs";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { word } from "#app/word.ts";
const place = (url: string): string => (url.includes("/dist/") ? "built" : "sources");
export async function main(args: readonly string[]): Promise<number> {
  const thread = new Worker(new URL(import.meta.resolve("#app/thread.ts")));
  const [said] = (await once(thread, "message")) as [string];
  console.log(place(import.meta.url), word, said);
  return 0;
}
`;
const THREAD = `import { parentPort } from "node:worker_threads";
import { word } from "./word.ts";
parentPort?.postMessage((import.meta.url.includes("/dist/") ? "built" : "sources") + " " + word);
`;

/** A checkout of a small program, in a folder whose path has a space and letters that a URL writes differently. */
function checkout(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), "selvedge build ü "));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const at = (directory: string) => {
    const file = (path: string): string => join(directory, path);
    const result = (args: readonly string[], options: object = {}) =>
      spawnSync(process.execPath, [file("bin/selvedge.js"), ...args], { encoding: "utf8", timeout: 120_000, ...options });
    return {
      file,
      result,
      run: (command: string, options: object = {}): string => {
        const { stdout, stderr, status } = result([command], options);
        assert.equal(status, 0, stderr);
        return stdout;
      },
      say: (word: string): void => writeFileSync(file("src/app/word.ts"), `export const word: string = "${word}";\n`),
      copyTo: (name: string) => {
        cpSync(directory, join(parent, name), { recursive: true, verbatimSymlinks: true });
        return at(join(parent, name));
      },
    };
  };
  const made = at(join(parent, "first"));
  for (const folder of ["src/app/cli", "src/kernel/process", "tools"]) mkdirSync(made.file(folder), { recursive: true });
  for (const path of ["bin", "tools/build.ts", "package.json", "src/kernel/process/source-lines.ts"])
    cpSync(join(root, path), made.file(path), { recursive: true });
  symlinkSync(join(root, "node_modules"), made.file("node_modules"));
  writeFileSync(made.file("src/app/cli/main.ts"), MAIN);
  writeFileSync(made.file("src/app/thread.ts"), THREAD);
  made.say("first");
  return made;
}

const SOURCES = (word: string): string => `sources ${word} sources ${word}\n`;
const BUILT = (word: string): string => `built ${word} built ${word}\n`;

test("without a build the sources run, start makes a build, and every later command runs it", (t) => {
  const { run } = checkout(t);
  assert.equal(run("status"), SOURCES("first"));
  assert.equal(run("start"), BUILT("first"));
  assert.equal(run("status"), BUILT("first"));
});

test("an outdated build never runs, even if size and date of its source files match", (t) => {
  const { run, say, file } = checkout(t);
  assert.equal(run("start"), BUILT("first"));
  const { atime, mtime } = statSync(file("src/app/word.ts"));
  say("again");
  utimesSync(file("src/app/word.ts"), atime, mtime);
  assert.equal(run("status"), SOURCES("again"));
  assert.equal(run("start"), BUILT("again"));
  rmSync(file("src/app/word.ts"));
  writeFileSync(file("src/app/cli/main.ts"), MAIN.replace("#app/word.ts", "#app/other.ts"));
  writeFileSync(file("src/app/thread.ts"), THREAD.replace("./word.ts", "./other.ts"));
  writeFileSync(file("src/app/other.ts"), 'export const word = "other";\n');
  assert.equal(run("status"), SOURCES("other"));
  assert.equal(run("start"), BUILT("other"));
});

test("a syntax error stops the start with its place, and without a compiler the sources run directly", (t) => {
  const { run, say, file, result } = checkout(t);
  assert.equal(run("start"), BUILT("first"));
  writeFileSync(file("src/app/word.ts"), "export const word = ;\n");
  const broken = result(["start"]);
  assert.equal(broken.status, 1);
  assert.match(broken.stderr, /word\.ts:1:20/);
  say("mended");
  // As after `npm ci --omit=dev`.
  rmSync(file("node_modules"));
  const bare = result(["start"]);
  assert.deepEqual([bare.status, bare.stdout], [0, SOURCES("mended")], bare.stderr);
  assert.match(bare.stderr, /npm ci/);
});

test("a copy of a checkout runs its build whatever the dates of its files", (t) => {
  const { run, copyTo } = checkout(t);
  assert.equal(run("start"), BUILT("first"));
  const copy = copyTo("second");
  assert.equal(copy.run("status"), BUILT("first"));
  copy.say("other");
  assert.equal(copy.run("status"), SOURCES("other"));
});

test("start replaces a broken or old build and leaves no other files", (t) => {
  const { run, file, result } = checkout(t);
  assert.equal(run("start"), BUILT("first"));
  for (const text of ["", "{}", '{"src/app/word.ts":["1 2 3",""]}']) {
    writeFileSync(file("dist/built.json"), text);
    assert.equal(run("status"), SOURCES("first"), text);
    assert.equal(run("start"), BUILT("first"), text);
  }
  assert.deepEqual(result(["start"]).stderr, "");
});

test("concurrent starts each run a complete build", async (t) => {
  const { file, say } = checkout(t);
  for (const word of ["first", "again"]) {
    say(word);
    const starts = Array.from({ length: 4 }, () => execute(process.execPath, [file("bin/selvedge.js"), "start"], { timeout: 120_000 }));
    for (const { stdout } of await Promise.all(starts)) assert.equal(stdout, BUILT(word));
  }
  assert.deepEqual(
    readdirSync(file(".")).filter((name) => /dist/.test(name)),
    ["dist"],
  );
});

test("a user without write access to the program runs its build, or its sources if no build exists", (t) => {
  const identity = stranger();
  if (identity === undefined) return t.skip("only an administrator can start the program as somebody else");
  const { run, file } = checkout(t);
  const environment = { ...identity, env: { HOME: "/nonexistent", PATH: process.env["PATH"] } };
  allowEntry(file("."));
  assert.equal(run("start", environment), SOURCES("first"));
  assert.equal(run("start"), BUILT("first"));
  assert.equal(run("start", environment), BUILT("first"));
});

test("stack traces of the built program name lines of the sources, in threads too", async () => {
  assert.equal(spawnSync(process.execPath, [join(root, "tools/build.ts")], { timeout: 120_000 }).status, 0);
  const thread = new Worker(pathToFileURL(join(root, "dist/app/threads/prestarted-thread.js")), { workerData: {} });
  const [error] = (await once(thread, "error")) as [Error];
  const [, path = "", line] =
    /^ {4}at waitToLoad \((\/.*\/src\/kernel\/process\/worker-bootstrap\.ts):(\d+):\d+\)$/m.exec(error.stack ?? "") ?? [];
  assert.equal(path, join(root, "src/kernel/process/worker-bootstrap.ts"), error.stack);
  assert.match(readFileSync(path, "utf8").split("\n")[Number(line) - 1] ?? "", /new Int32Array\(|Atomics/);
  assert.match(error.stack ?? "", /at file:\/\/|prestarted-thread\.ts/);
});

/** mkdtemp(3) makes folders for their owner alone. */
function allowEntry(directory: string): void {
  const parent = dirname(directory);
  spawnSync("chmod", ["755", parent]);
  chownSync(directory, 0, 0);
}
