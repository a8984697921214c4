import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { ConfigError } from "#app/config/config.ts";
import type { ConfigKeyName } from "#app/config/config-schema.ts";
import { addConfigFlags } from "./config-flags.ts";
import type { DoctorOptions } from "./doctor.ts";
import { CliError, complain, EXIT, type ExitCode } from "./outcome.ts";
import type { StartOptions } from "./start.ts";

/** Runs one command line, without the program's name; gives the exit code and never throws. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: ExitCode = EXIT.ok;
  process.stdout.on("error", passOverLeavingReader);
  const program = createProgram((outcome) => {
    code = outcome;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return code;
  } catch (error) {
    return exitCodeOf(error);
  }
}

/** Whoever reads what is printed may have had enough, such as `head`: what the command does does not depend on it. */
function passOverLeavingReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** Each command loads its code when it runs, so that none waits for what another one needs. */
function createProgram(finish: Finish): Command {
  const program = new Command("selvedge")
    .description("An edge platform on your own machine: management API, nameserver, HTTP edge and AI gateway.")
    .version(packageVersion(), "--version", "print the version")
    .helpOption("--help", "explain a command")
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError("selvedge: --help behind the command explains it")
    .configureOutput({ outputError: (text, write) => write(`selvedge: ${text.replace(/^error: /, "")}`) })
    .addHelpText("after", GETTING_STARTED);

  addStart(program, finish);
  addStatus(program, finish);
  addDoctor(program, finish);
  const group = (name: string, description: string): Command => program.command(name).description(description).helpCommand(false);
  addTokens(group("token", "Manage API tokens in the database itself, whether or not a server runs."), finish);
  const zone = group("zone", "Work on zones through the management API.");
  addZoneImport(zone, finish);
  addZoneExport(zone, finish);
  addZoneHistory(zone, finish);
  addZoneDiff(zone, finish);
  addZoneRevert(zone, finish);
  addZoneRollKey(zone, finish);
  addZoneProve(zone, finish);
  addZoneSettle(zone, finish);
  addRules(group("rules", "Work on expressions of rules."), finish);
  addMatchedData(group("matched-data", "Read the encrypted copies of matches in security events."), finish);
  addEventsTail(group("events", "Look at what the planes logged, through the management API."), finish);
  addConfig(group("config", "Look at the configuration."), finish);
  return program;
}

type Finish = (code: ExitCode) => void;

/** What a command needs that finds the server of a data directory. */
const CLIENT_KEYS: readonly ConfigKeyName[] = ["data", "json"];

function addStart(parent: Command, finish: Finish): void {
  const command = parent
    .command("start")
    .description("Run the server until SIGTERM or Ctrl-C. SIGHUP reads the configuration and the certificate again.")
    .option(
      "--new-installation",
      "begin with an empty database though the data directory has been used; what was served is served no longer",
    );
  const flags = addConfigFlags(command);
  command.action(async (options: StartOptions) => finish(await (await import("./start.ts")).start(flags, options)));
}

function addDoctor(parent: Command, finish: Finish): void {
  const command = parent
    .command("doctor")
    .description(
      "Look through what a stopped server has on disk: its database, events and last good copy. Exits 1 when something is wrong.",
    )
    .option(
      "--new-history",
      "say that the database was put back from a backup on purpose, so that it is served though more was served before",
    );
  const flags = addConfigFlags(command, ["data", "database.url", "json"]);
  command.action(async (options: DoctorOptions) => finish(await (await import("./doctor.ts")).doctor(options, flags)));
}

function addStatus(parent: Command, finish: Finish): void {
  const command = parent
    .command("status")
    .description("Say whether a server runs on the data directory, and where its planes listen. Exits 3 when none runs.");
  const flags = addConfigFlags(command, CLIENT_KEYS);
  command.action(async () => finish(await (await import("./status.ts")).status(flags)));
}

/** What a command needs that works on the database. */
const DATABASE_KEYS: readonly ConfigKeyName[] = ["data", "database.url", "json"];

function addTokens(parent: Command, finish: Finish): void {
  addTokenCreate(parent, finish);
  const list = parent
    .command("list")
    .description("List every API token of the installation. Secrets are stored nowhere, and so not shown.");
  const listFlags = addConfigFlags(list, DATABASE_KEYS);
  list.action(async () => finish(await (await import("./token-list.ts")).tokenList(listFlags)));
  const revoke = parent
    .command("revoke")
    .argument("<id>", "the token's identifier, as token list shows it")
    .description("Delete an API token, whoever it belongs to.");
  const revokeFlags = addConfigFlags(revoke, DATABASE_KEYS);
  revoke.action(async (id: string) => finish(await (await import("./token-revoke.ts")).tokenRevoke(id, revokeFlags)));
  const reset = parent
    .command("reset")
    .argument("[id]", "the token's identifier (default: the first token, which is made again where it was revoked)")
    .description(
      "Give an API token a new secret and print it, once. For a first token that was lost, or must be changed before anything is public.",
    );
  const resetFlags = addConfigFlags(reset, DATABASE_KEYS);
  reset.action(async (id: string | undefined) => finish(await (await import("./token-revoke.ts")).tokenReset(id, resetFlags)));
}

function addTokenCreate(parent: Command, finish: Finish): void {
  const command = parent
    .command("create")
    .description("Create an API token for an account and print its secret, once. Say what it may do with --permission or --all.")
    .requiredOption("--name <name>", "what the token is for")
    .option("--permission <group>", 'a permission group such as "DNS Write"; repeatable', collect)
    .option("--all", "every permission of the account and its zones")
    .option("--account <id>", "the account that owns it (default: the installation's first)")
    .option("--expires-in <time>", "how long it is valid: 90d, 12h, 30m or 600s (default: for ever)");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (options) => finish(await (await import("./token-create.ts")).tokenCreate(options, flags)));
}

function addZoneImport(parent: Command, finish: Finish): void {
  const command = parent
    .command("import")
    .argument("<file>", "a zone file in the format of RFC 1035, or - for standard input")
    .description(
      "Add the records of a zone file, all or none; what is there already is skipped. Exits 1, with nothing imported, when a line is wrong.",
    )
    .requiredOption("--zone <name>", "the zone to import into, such as example.com")
    .option("--create", "create the zone when it does not exist")
    .option("--account <id>", "the account to create it in (default: the only one the token sees)")
    .option("--proxied", "proxy the records that can be, where their comments do not say otherwise");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (file: string, options) => finish(await (await import("./zone-import.ts")).zoneImport(file, options, flags)));
}

function addZoneExport(parent: Command, finish: Finish): void {
  const command = parent
    .command("export")
    .argument("<zone>", "the zone, such as example.com")
    .description("Print a zone as a zone file, with comments, tags and proxying in its comments.");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone-export.ts")).zoneExport(zone, options, flags)));
}

function addZoneHistory(parent: Command, finish: Finish): void {
  const command = parent
    .command("history")
    .argument("<zone>", "the zone, such as example.com")
    .description("List the versions of a zone's DNS records, newest first: each write made one.")
    .option("--limit <count>", "how many versions to show", "20");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone-history.ts")).zoneHistory(zone, options, flags)));
}

function addZoneDiff(parent: Command, finish: Finish): void {
  const command = parent
    .command("diff")
    .argument("<zone>", "the zone, such as example.com")
    .argument("[from]", "the version to compare (default: the one before the newest)")
    .argument("[to]", "the version to compare it with (default: the newest)")
    .description("Show what changed between two versions of a zone, as lines of a zone file.");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, from: string | undefined, to: string | undefined, options) =>
    finish(await (await import("./zone-diff.ts")).zoneDiff(zone, { ...options, from, to }, flags)),
  );
}

function addZoneRevert(parent: Command, finish: Finish): void {
  const command = parent
    .command("revert")
    .argument("<zone>", "the zone, such as example.com")
    .argument("[version]", "the version whose change is to be taken back")
    .description("Undo what one version changed, or with --to everything since a version. Exits 1, with nothing undone, when it cannot.")
    .option("--to <version>", "make the zone what it was at this version")
    .option("--reason <text>", "why, for the history");
  const flags = addConfigFlags(withApi(command), [...CLIENT_KEYS, "vendor.prefix"]);
  command.action(async (zone: string, version: string | undefined, options) =>
    finish(await (await import("./zone-revert.ts")).zoneRevert(zone, { ...options, version }, flags)),
  );
}

function addZoneRollKey(parent: Command, finish: Finish): void {
  const command = parent
    .command("roll-key")
    .argument("<zone>", "the zone, such as example.com")
    .description("Begin to replace the DNSSEC key of a zone, step by step and without a gap; the server does the rest.")
    .option("--status", "only show how far a replacement has come");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone-roll-key.ts")).zoneRollKey(zone, options, flags)));
}

function addZoneProve(parent: Command, finish: Finish): void {
  const command = parent
    .command("prove")
    .argument("<zone>", "the zone, such as example.com")
    .description(
      "Say as the operator that an account owns a zone's name: it is served, and others rely on it. Works on the database itself.",
    )
    .option("--account <id>", "the account, where several have a zone of the name");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone-owner.ts")).zoneProve(zone, options, flags)));
}

function addZoneSettle(parent: Command, finish: Finish): void {
  const command = parent
    .command("settle")
    .argument("[zone]", "the zone to settle (default: list the zones whose right to their names is in question)")
    .description(
      "Decide whose a name is: the account's zone is served, and zones of others at or below the name are not until they are proved.",
    )
    .option("--account <id>", "the account that the name is given to");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (zone: string | undefined, options) =>
    finish(await (await import("./zone-owner.ts")).zoneSettle(zone, options, flags)),
  );
}

function addRules(parent: Command, finish: Finish): void {
  parent
    .command("fmt")
    .description("Print an expression in its canonical form. Exits 1 where it cannot be read, or the phase would refuse it.")
    .argument("[expression]", "the expression (default: standard input)")
    .option("--phase <phase>", "check it as an expression of this phase, lists excepted")
    .option("--value", "it gives a value, as rewrites and redirects have them")
    .action(async (expression: string | undefined, options: { phase?: string; value?: boolean }) =>
      finish(await (await import("./rules-format.ts")).rulesFormat(expression, options)),
    );
}

function addMatchedData(parent: Command, finish: Finish): void {
  parent
    .command("keygen")
    .description("Print a new pair of keys: the public one for the rule, the private one to keep.")
    .action(async () => finish((await import("./matched-data.ts")).generateKeys()));
  parent
    .command("decrypt")
    .description("Print what the matched_data of an event holds, or what all in an answer of the API do.")
    .requiredOption("--private-key-file <path>", "what keygen printed, or the private key alone")
    .option("--data <text>", "the matched_data (default: standard input)")
    .action(async (options: { privateKeyFile: string; data?: string }) =>
      finish(await (await import("./matched-data.ts")).decrypt(options)),
    );
}

function addEventsTail(parent: Command, finish: Finish): void {
  const command = parent
    .command("tail")
    .description("Print security events or requests as they come, until interrupted; each as a line, or with --json as a JSON object.")
    .option("--requests", "requests that the edge answers, instead of security events")
    .option("--zone <name>", "the zone to follow, such as example.com, or its identifier where the token has no Zone Read")
    .option("--account <id>", "the account whose zones to follow")
    .option("--filter <name=value>", "a filter of the activity log, such as action=block or client_ip=192.0.2.0/24; repeatable", collect)
    .option("--for <seconds>", "end after this time")
    .addHelpText("after", TAIL_EXAMPLES);
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (options) => finish(await (await import("./events-tail.ts")).eventsTail(options, flags)));
}

const TAIL_EXAMPLES = `
Examples:
  selvedge events tail --zone example.com
  selvedge events tail --zone example.com --filter action=block --filter client_ip=192.0.2.0/24
  selvedge events tail --requests --zone example.com --filter status=502 --for 60
  selvedge events tail --account 0123456789abcdef0123456789abcdef --json | jq -r .path`;

const withApi = (command: Command): Command =>
  command
    .option("--api <url>", "base address of the API (default: SELVEDGE_API, else the server of the data directory)")
    .option("--token <secret>", "API token; better set SELVEDGE_TOKEN, since others can see a command's arguments");

function addConfig(parent: Command, finish: Finish): void {
  const command = parent
    .command("check")
    .description("Read the configuration as start would, and print each value with where it comes from. Exits 2 when it is wrong.");
  const flags = addConfigFlags(command);
  command.action(async () => finish((await import("./config-check.ts")).configCheck(flags)));
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function packageVersion(): string {
  const text = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Errors with a name are explained; anything else is a defect and shows its place. */
function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof ConfigError) {
    complain(error.problems);
    return EXIT.usage;
  }
  if (error instanceof CliError) {
    complain([error.message]);
    return error.exitCode;
  }
  complain([error instanceof Error ? (error.stack ?? error.message) : String(error)]);
  return EXIT.failed;
}

const GETTING_STARTED = `
Getting started:
  selvedge start                          run everything on this machine, state in ./.selvedge
  selvedge status                         see where it listens, and whether it is ready
  selvedge token create --name ci --all   make another API token
  selvedge token reset                    give the first API token a new secret, such as when it was lost
  selvedge start --help                   see everything that can be configured
`;
