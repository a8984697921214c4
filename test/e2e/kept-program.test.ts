import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { deserialize, serialize } from "node:v8";

const bin = join(dirname(dirname(import.meta.dirname)), "bin");

interface Module {
  readonly stamp: string;
  readonly source: string;
}
type Kept = [holds: string, addresses: Map<string, string>, modules: Map<string, Module>];

/** A program of its own whose first module prints what the one that `#word` leads to exports, in a thread as well where asked. */
function program(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-kept-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const root = join(directory, "root");
  const file = (path: string): string => join(root, path);
  for (const folder of ["bin", "src"]) mkdirSync(file(folder), { recursive: true });
  for (const one of ["kept-program.js", "strip-types.js"]) cpSync(join(bin, one), file(`bin/${one}`));
  const leadTo = (path: string): void =>
    writeFileSync(file("package.json"), JSON.stringify({ type: "module", imports: { "#word": path } }));
  leadTo("./src/first.ts");
  writeFileSync(file("src/first.ts"), 'export const word: string = "first";\n');
  writeFileSync(file("src/other.ts"), 'export const word: string = "other";\n');
  writeFileSync(
    file("src/main.ts"),
    'import { Worker, isMainThread } from "node:worker_threads";\nimport { word } from "#word";\nconsole.log(word as string);\n' +
      'if (isMainThread && process.argv.includes("thread")) new Worker(import.meta.filename, { execArgv: process.argv.slice(3), name: "helper-1" });\n',
  );
  const cache = join(directory, "cache");
  const flags = ["--import", pathToFileURL(file("bin/kept-program.js")).href];
  return {
    file,
    leadTo,
    cache: join(cache, "selvedge/program"),
    run: (...args: readonly string[]): string => {
      const { stdout, stderr, status } = spawnSync(process.execPath, [...flags, file("src/main.ts"), ...args], {
        encoding: "utf8",
        timeout: 60_000,
        env: { ...process.env, XDG_CACHE_HOME: cache },
      });
      assert.deepEqual([status, stderr], [0, ""]);
      return stdout;
    },
    flags,
  };
}

const keptFile = (cache: string, kind: string): string => {
  const name = readdirSync(cache).find((one) => one.endsWith(`-${kind}`));
  assert.ok(name !== undefined, `nothing is kept for ${kind}`);
  return join(cache, name);
};

test("a program runs from what an earlier start has kept, its threads as well", (t) => {
  const { run, cache, flags } = program(t);
  assert.equal(run("thread", ...flags), "first\nfirst\n");
  for (const kind of ["main", "helper"]) {
    const path = keptFile(cache, kind);
    const [holds, addresses, modules] = deserialize(readFileSync(path)) as Kept;
    for (const [url, module] of modules) modules.set(url, { ...module, source: module.source.replace('"first"', `"kept for ${kind}"`) });
    writeFileSync(path, serialize([holds, addresses, modules]));
  }
  assert.equal(run("thread", ...flags), "kept for main\nkept for helper\n");
});

test("types are stripped once for all threads, by a process of its own; without what it left each thread strips for itself", (t) => {
  const { run, cache, flags, file } = program(t);
  assert.equal(run("thread", ...flags), "first\nfirst\n");
  const path = keptFile(cache, "texts");
  const [version, texts] = deserialize(readFileSync(path)) as [string, Map<string, Module>];
  assert.equal(texts.size, 3);
  for (const [url, text] of texts) texts.set(url, { ...text, source: text.source.replace('"first"', '"stripped before"') });
  const startAnew = (left: Buffer): string => {
    for (const kind of ["main", "helper"]) rmSync(keptFile(cache, kind));
    writeFileSync(path, left);
    return run("thread", ...flags);
  };
  assert.equal(startAnew(serialize([version, texts])), "stripped before\nstripped before\n");
  assert.equal(startAnew(Buffer.from("broken")), "first\nfirst\n");
  writeFileSync(
    file("bin/strip-types.js"),
    readFileSync(join(bin, "strip-types.js"), "utf8").replace("if (import.meta.main)", "if (false)"),
  );
  assert.equal(startAnew(Buffer.from("broken")), "first\nfirst\n");
});

test("a module that has changed is read again, also where its length and its date are the same", (t) => {
  const { run, file } = program(t);
  assert.equal(run(), "first\n");
  const path = file("src/first.ts");
  const { atime, mtime } = statSync(path);
  writeFileSync(path, 'export const word: string = "again";\n');
  utimesSync(path, atime, mtime);
  assert.equal(run(), "again\n");
  assert.equal(run(), "again\n");
});

test("where a name leads is looked up again when what the project depends on has changed, and when the module has gone", (t) => {
  const { run, file, leadTo } = program(t);
  assert.equal(run(), "first\n");
  leadTo("./src/other.ts");
  assert.equal(run(), "other\n");
  rmSync(file("src/other.ts"));
  assert.throws(run, /Cannot find module/);
});

test("what is broken is written anew, and a directory that others can write is not used", (t) => {
  const { run, cache } = program(t);
  assert.equal(run(), "first\n");
  const path = keptFile(cache, "main");
  const whole = readFileSync(path);
  for (const broken of [Buffer.alloc(0), whole.subarray(0, whole.length / 2), serialize({}), serialize([1, 2])]) {
    writeFileSync(path, broken);
    assert.equal(run(), "first\n");
    assert.equal((deserialize(readFileSync(path)) as Kept)[2].size, 2);
  }
  assert.equal(statSync(path).mode & 0o077, 0);
  for (const one of readdirSync(cache)) rmSync(join(cache, one));
  chmodSync(cache, 0o770);
  assert.equal(run(), "first\n");
  assert.deepEqual(readdirSync(cache), []);
});
