import assert from "node:assert/strict";
import { test } from "node:test";
import { readArguments } from "./arguments.ts";
import type { Benchmark } from "./benchmark.ts";

const row = (name: string): Benchmark => ({ name, unit: "x/s", better: "higher", tools: [], prepare: () => Promise.reject(new Error()) });
const read = (...argv: readonly string[]) => readArguments(argv, [row("one"), row("another")]);

test("a run is named by its benchmarks, rounds and seconds", () => {
  assert.deepEqual(read(), { names: [], rounds: undefined, seconds: 3 });
  assert.deepEqual(read("--rounds", "2", "one", "--seconds=0.5"), { names: ["one"], rounds: 2, seconds: 0.5 });
});

test("help lists every benchmark, and a wrong argument gives one sentence and no run", () => {
  const help = read("--help");
  assert.ok("text" in help && help.code === 0);
  for (const name of ["one", "another", "--rounds", "--seconds"]) assert.match(help.text, new RegExp(`^  ${name}`, "m"));
  for (const [argv, said] of [
    [["--round", "2"], /^Unknown option '--round'; see/],
    [["--rounds", "many"], /^--rounds must be .*, not many;/],
    [["--rounds", "0"], /--rounds/],
    [["--seconds", "0"], /--seconds/],
    [["--seconds"], /--seconds/],
    [["two", "one"], /^no benchmark is called two;/],
  ] as const) {
    const advice = read(...argv);
    assert.ok("text" in advice && advice.code === 2, argv.join(" "));
    assert.match(advice.text, said);
    assert.doesNotMatch(advice.text, /\n/);
  }
});
