import type { Command } from "commander";
import { addConfigFlags } from "./config-flags.ts";
import { CLIENT_KEYS, collect, type Finish, withApi } from "./command-parts.ts";

/** Adds the commands of `selvedge events`. */
export function addEventsTail(parent: Command, finish: Finish): void {
  const command = parent
    .command("tail")
    .description("Print security events or requests as they occur, until interrupted: one per line, or with --json as JSON objects.")
    .option("--requests", "show edge requests instead of security events")
    .option("--zone <name>", "the zone to follow, such as example.com, or its identifier if the token has no Zone Read permission")
    .option("--account <id>", "the account whose zones to follow")
    .option("--filter <name=value>", "a filter of the activity log, such as action=block or client_ip=192.0.2.0/24; repeatable", collect)
    .option("--for <time>", "stop after this time, such as 10m or 600s")
    .addHelpText("after", TAIL_EXAMPLES);
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (options) => finish(await (await import("./events-tail.ts")).eventsTail(options, flags)));
}

/** Adds the commands of `selvedge matched-data`. */
export function addMatchedData(parent: Command, finish: Finish): void {
  parent
    .command("keygen")
    .description("Print a new key pair: a public key for the rule and a private key for you to keep.")
    .option("--json", "print JSON in one line")
    .action(async (options: { json?: boolean }) => finish((await import("./matched-data.ts")).generateKeys(options)));
  parent
    .command("decrypt")
    .description("Decrypt and print the matched_data of an event, or every matched_data in an API response.")
    .requiredOption("--private-key-file <path>", "file with the output of keygen, or with only the private key")
    .option("--data <text>", "the matched_data (default: standard input)")
    .action(async (options: { privateKeyFile: string; data?: string }) =>
      finish(await (await import("./matched-data.ts")).decrypt(options)),
    );
}

const TAIL_EXAMPLES = `
Examples:
  selvedge events tail --zone example.com
  selvedge events tail --zone example.com --filter action=block --filter client_ip=192.0.2.0/24
  selvedge events tail --requests --zone example.com --filter status=502 --for 60
  selvedge events tail --account 0123456789abcdef0123456789abcdef --json | jq -r .path`;
