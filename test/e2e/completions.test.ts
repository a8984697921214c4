import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { removeDirectory } from "../support/temporary.ts";
import { toolOrSkip } from "../support/tools.ts";

const PROGRAM = join(import.meta.dirname, "../../bin/selvedge.js");

const script = (shell: string): string =>
  execFileSync(process.execPath, [PROGRAM, "completions", shell], { encoding: "utf8", timeout: 120_000 });

/** Words on a line whose last one is completed, and some that must be offered for it. */
const LINES: readonly (readonly [line: readonly string[], offered: readonly string[], others: readonly string[]])[] = [
  [["selvedge", ""], ["start", "backup", "env", "restore", "token", "zone", "reload", "completions"], ["create"]],
  [["selvedge", "re"], ["reload", "restart", "restore"], ["start"]],
  [["selvedge", "token", ""], ["create", "list", "reset"], ["start"]],
  [["selvedge", "token", "create", "--na"], ["--name"], ["--api-port"]],
  [["selvedge", "env", "te"], ["terraform"], ["openai"]],
  [["selvedge", "completions", ""], ["bash", "zsh", "fish"], ["start"]],
  [["selvedge", "log", "level", "edge=de"], ["edge=debug"], ["edge=info", "gateway=debug"]],
  [["selvedge", "log", "level", "al"], ["all=configured"], ["edge=info"]],
  [["selvedge", "start", "--api-p"], ["--api-port"], ["--name"]],
];

test("bash completes commands and flags", () => {
  const source = script("bash");
  for (const [line, offered, others] of LINES) {
    const words = line.map((word) => `'${word}'`).join(" ");
    const ask = `${source}\nCOMP_WORDS=(${words}); COMP_CWORD=${line.length - 1}; _selvedge; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const found = execFileSync("bash", ["-c", ask], { encoding: "utf8" }).trim().split("\n");
    for (const word of offered) assert.ok(found.includes(word), `${line.join(" ")}: ${word} in ${found.join(" ")}`);
    for (const word of others) assert.ok(!found.includes(word), `${line.join(" ")}: ${word}`);
  }
});

test("bash completes the level of an area, of which it makes three words", () => {
  const ask = (words: string): readonly string[] => {
    const program = `${script("bash")}\nCOMP_WORDS=(selvedge log level ${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _selvedge; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", program], { encoding: "utf8" }).trim().split("\n");
  };
  assert.deepEqual(ask("edge = de"), ["debug"]);
  assert.deepEqual(ask("edge ="), ["debug", "info", "warn", "error", "silent", "configured"]);
  assert.deepEqual(
    ask("edge = debug gate"),
    ["debug", "info", "warn", "error", "silent", "configured"].map((level) => `gateway=${level}`),
  );
});

test("fish completes commands and flags", { skip: toolOrSkip("fish") }, (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-fish-"));
  t.after(() => removeDirectory(directory));
  const file = join(directory, "selvedge.fish");
  writeFileSync(file, script("fish"));
  for (const [line, offered, others] of LINES) {
    const ask = `source ${file}; complete -C '${line.join(" ")}'`;
    const { stdout, stderr } = spawnSync("fish", ["--no-config", "-c", ask], {
      encoding: "utf8",
      env: { ...process.env, HOME: directory },
    });
    const found = stdout.split("\n").map((one) => one.split("\t", 1)[0] ?? "");
    for (const word of offered) assert.ok(found.includes(word), `${line.join(" ")}: ${word} in ${found.join(" ")} ${stderr}`);
    for (const word of others) assert.ok(!found.includes(word), `${line.join(" ")}: ${word}`);
  }
});

test("zsh loads its script", { skip: toolOrSkip("zsh") }, () => {
  const { status, stdout, stderr } = spawnSync(
    "zsh",
    ["-f", "-c", `autoload -Uz compinit && compinit -u -D; ${script("zsh")}\nprint -r -- $_comps[selvedge]`],
    {
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, /_bash_complete.* -F _selvedge/);
});

/** The command line of zsh after these keys. */
function typedInZsh(keys: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-zsh-"));
  try {
    writeFileSync(join(directory, "_selvedge.zsh"), script("zsh"));
    const ready = 'autoload -Uz compinit && compinit -u -D; PS1="> "; source _selvedge.zsh; selvedge() { print -r -- "typed=$*" }';
    const wait = "sleep 1";
    const steps = keys.map((key) => `zpty -w -n z $'${key}'; ${wait}`);
    const program = [
      ...["zmodload zsh/zpty", "zpty z 'zsh -f -i'", `zpty -w z '${ready}'`, wait, ...steps, String.raw`zpty -w -n z $'\n'`, wait],
      "while zpty -r -t z out; do print -r -- $out; done",
    ].join("\n");
    const { stdout } = spawnSync("zsh", ["-f", "-c", program], { cwd: directory, encoding: "utf8", timeout: 120_000 });
    return /^typed=(.*?)\r?$/m.exec(stdout)?.[1] ?? stdout;
  } finally {
    removeDirectory(directory);
  }
}

test("zsh puts a space after a word that it has completed, and none after a folder", { skip: toolOrSkip("zsh") }, () => {
  assert.equal(typedInZsh([String.raw`selvedge rec\t`, String.raw`ad\t`, String.raw`--pro\t`]), "records add --proxied");
});

test("completions for another shell are refused", () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "completions", "tcsh"], { encoding: "utf8", timeout: 120_000 });
  assert.equal(status, 2);
  assert.match(stderr, /completions exist for bash, zsh, fish, not for tcsh/);
});
