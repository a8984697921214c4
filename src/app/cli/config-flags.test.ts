import assert from "node:assert/strict";
import { test } from "node:test";
import { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";

/** The words and the flags of the configuration that a command `show <name>` reads. */
function read(...argv: readonly string[]): { readonly names: readonly string[]; readonly flags: readonly string[] } {
  const program = new Command("program").enablePositionalOptions().exitOverride();
  const command = program
    .command("show")
    .argument("<names...>")
    .configureOutput({ outputError: () => undefined });
  const flags = addConfigFlags(command, ["data", "json"]);
  let names: readonly string[] = [];
  command.action((given: readonly string[]) => void (names = given));
  program.parse(["show", ...argv], { from: "user" });
  return { names, flags };
}

test("a switch leaves the word after it to the command, and has a value only after =", () => {
  assert.deepEqual(read("--json", "a.example"), { names: ["a.example"], flags: ["--json=true"] });
  assert.deepEqual(read("a.example", "--json", "b.example"), { names: ["a.example", "b.example"], flags: ["--json=true"] });
  assert.deepEqual(read("--json=no", "a.example"), { names: ["a.example"], flags: ["--json=no"] });
  assert.deepEqual(read("--data", "d", "--json", "no"), { names: ["no"], flags: ["--data=d", "--json=true"] });
  assert.deepEqual(read("--json", "--", "--json"), { names: ["--json"], flags: ["--json=true"] });
});

test("help shows switches without a value", () => {
  const command = new Command("show");
  addConfigFlags(command, ["data", "json"]);
  const help = command.helpInformation();
  assert.match(help, /^ {2}--json {2,}Print/m);
  assert.match(help, /^ {2}--data <value> {2,}/m);
});
