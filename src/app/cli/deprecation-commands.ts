import type { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";
import { CLIENT_KEYS, type Finish, withApi } from "./command-parts.ts";

/** Adds the commands of `selvedge deprecations`. */
export function addDeprecations(parent: Command, finish: Finish): void {
  parent
    .enablePositionalOptions()
    .option("--who-calls", "list the tokens of an account that still use deprecated parts of the API, with the API date of each")
    .option("--account <id>", "the account (default: the only account that the token can access)")
    .addHelpText("after", EXAMPLES);
  const flags = addConfigFlags(withApi(parent), CLIENT_KEYS);
  addRehearse(parent, finish);
  parent.action(async (options) => finish(await (await import("./deprecations/list.ts")).deprecationsList(options, flags)));
}

function addRehearse(parent: Command, finish: Finish): void {
  const command = parent
    .command("rehearse")
    .description("Show which management calls would break on a day. Changes nothing. Exits 1 if a call would break.")
    .requiredOption("--as-of <day>", "the day to rehearse, such as 2027-01-01")
    .option("--since <time>", "use calls that the server recorded in this period, such as 7d (the default)")
    .option("--log <file>", "use calls from a file: one JSON object per line, or an HTTP Archive; - is standard input")
    .option("--live", "use calls from now on, until interrupted or for the time that --for sets")
    .option("--for <time>", "with --live: stop after this time, such as 10m or 600s")
    .option("--from <day>", "with --log: the day on which these calls worked (default: today)")
    .option("--account <id>", "the account (default: the only account that the token can access)")
    .option("--html <file>", "also write an HTML report to this file")
    .addHelpText("after", REHEARSE_EXAMPLES);
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (options) => finish(await (await import("./deprecations/rehearse.ts")).rehearseCalls(options, flags)));
}

const REHEARSE_EXAMPLES = `
Examples:
  selvedge deprecations rehearse --as-of 2027-01-01
  selvedge deprecations rehearse --as-of 2027-01-01 --live --for 10m --html report.html
  selvedge deprecations rehearse --as-of 2025-06-15 --from 2024-01-01 --log calls.ndjson --json

A line of --log: {"method":"GET","path":"/zones/ZONE/dns_records?name=a","body":{},"token":"a name"}; only method and path (or url) are required.`;

const EXAMPLES = `
Examples:
  selvedge deprecations
  selvedge deprecations --who-calls
  selvedge deprecations --who-calls --account 0123456789abcdef0123456789abcdef --json`;
