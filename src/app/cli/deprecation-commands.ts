import type { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";
import { CLIENT_KEYS, type Finish, withApi } from "./command-parts.ts";

/** Adds the commands of `selvedge deprecations`. */
export function addDeprecations(parent: Command, finish: Finish): void {
  // Commands below it have options of the same names.
  parent
    .enablePositionalOptions()
    .option("--who-calls", "list the tokens of an account that still call what ends, with the API date of each")
    .option("--account <id>", "the account (default: the only account that the token can access)")
    .addHelpText("after", EXAMPLES);
  const flags = addConfigFlags(withApi(parent), CLIENT_KEYS);
  parent.action(async (options) => finish(await (await import("./deprecations/list.ts")).deprecationsList(options, flags)));
}

const EXAMPLES = `
Examples:
  selvedge deprecations
  selvedge deprecations --who-calls
  selvedge deprecations --who-calls --account 0123456789abcdef0123456789abcdef --json`;
