import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { ConfigError } from "#app/config/config.ts";
import type { ConfigKeyName } from "#app/config/config-schema.ts";
import { addConfigFlags } from "./config-flags.ts";
import type { DoctorOptions } from "./doctor.ts";
import { CliError, complain, EXIT, type ExitCode } from "./outcome.ts";
import type { WafCrsInstallOptions } from "./waf-crs-install.ts";
import type { StartOptions } from "./start.ts";

/** Runs one command line, without the program's name; gives the exit code and never throws. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: ExitCode = EXIT.ok;
  process.stdout.on("error", passOverLeavingReader);
  const program = createProgram((outcome) => {
    code = outcome;
  });
  try {
    await program.parseAsync(argv[0] === "help" ? helpArguments(program, argv.slice(1)) : [...argv], { from: "user" });
    return code;
  } catch (error) {
    return exitCodeOf(error);
  }
}

/** `help token create` is `token create --help`, and an unknown name is reported as it is without `help`. */
function helpArguments(program: Command, names: readonly string[]): string[] {
  let command = program;
  for (const name of names) {
    const next = command.commands.find((one) => one.name() === name);
    if (next === undefined) return [...names];
    command = next;
  }
  return [...names, "--help"];
}

/** Whoever reads what is printed may have had enough, such as `head`: what the command does does not depend on it. */
function passOverLeavingReader(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** Each command loads its code when it runs, so that none waits for what another one needs. */
function createProgram(finish: Finish): Command {
  const program = new Command("selvedge")
    .description("An edge platform on your own machine: management API, nameserver, HTTP edge and AI gateway.")
    .version(packageVersion(), "-v, --version", "print the version")
    .helpOption("-h, --help", "show help for a command")
    .helpCommand("help [command...]", "show help for a command")
    .exitOverride()
    .showHelpAfterError("selvedge: see the command's --help")
    .configureOutput({ outputError: (text, write) => write(`selvedge: ${text.replace(/^error: /, "")}`) })
    .addHelpText("after", GETTING_STARTED);

  addStart(program, finish);
  addStatus(program, finish);
  addDoctor(program, finish);
  const group = (name: string, description: string): Command => program.command(name).description(description).helpCommand(false);
  addTokens(group("token", "Manage API tokens directly in the database; works with and without a running server."), finish);
  const zone = group("zone", "Manage zones through the management API.");
  addZoneImport(zone, finish);
  addZoneExport(zone, finish);
  addZoneHistory(zone, finish);
  addZoneDiff(zone, finish);
  addZoneRevert(zone, finish);
  addZoneRollKey(zone, finish);
  addZoneProve(zone, finish);
  addZoneSettle(zone, finish);
  addRules(group("rules", "Work with rule expressions."), finish);
  addMatchedData(group("matched-data", "Decrypt the matched data in security events."), finish);
  addEventsTail(group("events", "Show events that the planes logged, through the management API."), finish);
  addWaf(group("waf", "Manage the rules of the web application firewall."), finish);
  addConfig(group("config", "Check the configuration."), finish);
  return program;
}

type Finish = (code: ExitCode) => void;

/** What a command needs that finds the server of a data directory. */
const CLIENT_KEYS: readonly ConfigKeyName[] = ["data", "json"];

function addStart(parent: Command, finish: Finish): void {
  const command = parent
    .command("start")
    .description("Run the server until SIGTERM or Ctrl-C. SIGHUP reloads the configuration and the certificate.")
    .option(
      "--new-installation",
      "start with an empty database although the data directory has been used; the planes stop serving the previous configuration",
    );
  const flags = addConfigFlags(command);
  command.action(async (options: StartOptions) => finish(await (await import("./start.ts")).start(flags, options)));
}

function addDoctor(parent: Command, finish: Finish): void {
  const command = parent
    .command("doctor")
    .description("Check the files of a stopped server: its database, events and last good copy. Exits 1 if something is wrong.")
    .option("--new-history", "confirm that you restored the database from an older backup on purpose, so that the planes may serve it");
  const flags = addConfigFlags(command, ["data", "database.url", "json"]);
  command.action(async (options: DoctorOptions) => finish(await (await import("./doctor.ts")).doctor(options, flags)));
}

function addStatus(parent: Command, finish: Finish): void {
  const command = parent
    .command("status")
    .description("Show whether a server uses the data directory, and where its planes listen. Exits 3 if none does.");
  const flags = addConfigFlags(command, CLIENT_KEYS);
  command.action(async () => finish(await (await import("./status.ts")).status(flags)));
}

/** What a command needs that works on the database. */
const DATABASE_KEYS: readonly ConfigKeyName[] = ["data", "database.url", "json"];

function addTokens(parent: Command, finish: Finish): void {
  addTokenCreate(parent, finish);
  const list = parent
    .command("list")
    .description("List all API tokens of the installation. The server stores no secrets, so the list does not show them.");
  const listFlags = addConfigFlags(list, DATABASE_KEYS);
  list.action(async () => finish(await (await import("./token-list.ts")).tokenList(listFlags)));
  const revoke = parent
    .command("revoke")
    .argument("<id>", "the token's identifier, as shown by token list")
    .description("Delete an API token of any user or account.");
  const revokeFlags = addConfigFlags(revoke, DATABASE_KEYS);
  revoke.action(async (id: string) => finish(await (await import("./token-revoke.ts")).tokenRevoke(id, revokeFlags)));
  const reset = parent
    .command("reset")
    .argument("[id]", "the token's identifier (default: the first token, which is created again if it was revoked)")
    .description(
      "Give an API token a new secret and print it once. Use this if the first token was lost, and before anything becomes public.",
    );
  const resetFlags = addConfigFlags(reset, DATABASE_KEYS);
  reset.action(async (id: string | undefined) => finish(await (await import("./token-revoke.ts")).tokenReset(id, resetFlags)));
}

function addWaf(parent: Command, finish: Finish): void {
  const crs = parent.command("crs").description("The OWASP Core Rule Set.").helpCommand(false);
  const install = crs
    .command("install")
    .argument("<file>", "a release of the OWASP Core Rule Set, .tar.gz")
    .description(
      "Install the OWASP Core Rule Set into the data directory, for the server's next start. If its rules do not compile, changes nothing.",
    )
    .option("--sha256 <digest>", "refuse the file unless this is its SHA-256 digest");
  const flags = addConfigFlags(install, CLIENT_KEYS);
  install.action(async (file: string, options: WafCrsInstallOptions) =>
    finish((await import("./waf-crs-install.ts")).wafCrsInstall(file, options, flags)),
  );
}

function addTokenCreate(parent: Command, finish: Finish): void {
  const command = parent
    .command("create")
    .description("Create an API token for an account and print its secret once. Set its permissions with --permission or --all.")
    .requiredOption("--name <name>", "name of the token, such as its purpose")
    .option("--permission <group>", 'a permission group such as "DNS Write"; repeatable', collect)
    .option("--all", "all permissions for the account and its zones")
    .option("--account <id>", "the account that owns the token (default: the first account)")
    .option("--expires-in <time>", "how long the token is valid: 90d, 12h, 30m or 600s (default: no expiry)");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (options) => finish(await (await import("./token-create.ts")).tokenCreate(options, flags)));
}

function addZoneImport(parent: Command, finish: Finish): void {
  const command = parent
    .command("import")
    .argument("<file>", "a zone file in the format of RFC 1035, or - for standard input")
    .description(
      "Import the records of a zone file; existing records are skipped. If a line is wrong, imports nothing and exits 1, unless --on-error is skip.",
    )
    .requiredOption("--zone <name>", "the zone to import into, such as example.com")
    .option("--create", "create the zone if it does not exist")
    .option("--account <id>", "the account to create the zone in (default: the only account that the token can access)")
    .option(
      "--on-error <action>",
      "refuse, clamp (default: cut TTLs, comments and tags to the limits) or skip (leave out lines that are wrong)",
    )
    .option("--dry-run", "report what an import would do, and write nothing")
    .option("--proxied", "proxy all records that can be proxied, unless their comments say otherwise");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (file: string, options) => finish(await (await import("./zone/zone-import.ts")).zoneImport(file, options, flags)));
}

function addZoneExport(parent: Command, finish: Finish): void {
  const command = parent
    .command("export")
    .argument("<zone>", "the zone, such as example.com")
    .description("Print a zone as a zone file. Its comments contain the comments, tags and proxy status of the records.");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone/zone-export.ts")).zoneExport(zone, options, flags)));
}

function addZoneHistory(parent: Command, finish: Finish): void {
  const command = parent
    .command("history")
    .argument("<zone>", "the zone, such as example.com")
    .description("List the versions of a zone's DNS records, newest first. Every write creates a version.")
    .option("--limit <count>", "number of versions to show", "20");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone/zone-history.ts")).zoneHistory(zone, options, flags)));
}

function addZoneDiff(parent: Command, finish: Finish): void {
  const command = parent
    .command("diff")
    .argument("<zone>", "the zone, such as example.com")
    .argument("[from]", "the version to compare (default: the second newest)")
    .argument("[to]", "the version to compare it with (default: the newest)")
    .description("Show what changed between two versions of a zone, as lines of a zone file.");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, from: string | undefined, to: string | undefined, options) =>
    finish(await (await import("./zone/zone-diff.ts")).zoneDiff(zone, { ...options, from, to }, flags)),
  );
}

function addZoneRevert(parent: Command, finish: Finish): void {
  const command = parent
    .command("revert")
    .argument("<zone>", "the zone, such as example.com")
    .argument("[version]", "the version whose changes to undo")
    .description("Undo the changes of one version or, with --to, all changes since a version. If it cannot, undoes nothing and exits 1.")
    .option("--to <version>", "restore the zone to this version")
    .option("--reason <text>", "the reason, for the history");
  const flags = addConfigFlags(withApi(command), [...CLIENT_KEYS, "vendor.prefix"]);
  command.action(async (zone: string, version: string | undefined, options) =>
    finish(await (await import("./zone/zone-revert.ts")).zoneRevert(zone, { ...options, version }, flags)),
  );
}

function addZoneRollKey(parent: Command, finish: Finish): void {
  const command = parent
    .command("roll-key")
    .argument("<zone>", "the zone, such as example.com")
    .description("Start to replace the DNSSEC key of a zone. The server completes the steps, and the zone stays valid throughout.")
    .option("--status", "only show the progress of a replacement");
  const flags = addConfigFlags(withApi(command), CLIENT_KEYS);
  command.action(async (zone: string, options) =>
    finish(await (await import("./zone/zone-roll-key.ts")).zoneRollKey(zone, options, flags)),
  );
}

function addZoneProve(parent: Command, finish: Finish): void {
  const command = parent
    .command("prove")
    .argument("<zone>", "the zone, such as example.com")
    .description(
      "Confirm as the operator that an account owns a zone's name: the planes serve the zone, and others rely on it. Works directly in the database.",
    )
    .option("--account <id>", "the account, if several accounts have a zone with this name");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (zone: string, options) => finish(await (await import("./zone/zone-owner.ts")).zoneProve(zone, options, flags)));
}

function addZoneSettle(parent: Command, finish: Finish): void {
  const command = parent
    .command("settle")
    .argument("[zone]", "the zone to settle (default: list the zones whose ownership is disputed)")
    .description(
      "Decide which account owns a name: the planes serve its zone. They do not serve zones of other accounts at or below the name until those are proved.",
    )
    .option("--account <id>", "the account that gets the name");
  const flags = addConfigFlags(command, DATABASE_KEYS);
  command.action(async (zone: string | undefined, options) =>
    finish(await (await import("./zone/zone-owner.ts")).zoneSettle(zone, options, flags)),
  );
}

function addRules(parent: Command, finish: Finish): void {
  parent
    .command("fmt")
    .description("Print an expression in its canonical form. Exits 1 if the expression is invalid or the phase does not accept it.")
    .argument("[expression]", "the expression (default: standard input)")
    .option("--phase <phase>", "check the expression for this phase, except for its lists")
    .option("--value", "parse the expression as a value, as in rewrites and redirects")
    .action(async (expression: string | undefined, options: { phase?: string; value?: boolean }) =>
      finish(await (await import("./rules-format.ts")).rulesFormat(expression, options)),
    );
}

function addMatchedData(parent: Command, finish: Finish): void {
  parent
    .command("keygen")
    .description("Print a new key pair: a public key for the rule and a private key for you to keep.")
    .action(async () => finish((await import("./matched-data.ts")).generateKeys()));
  parent
    .command("decrypt")
    .description("Decrypt and print the matched_data of an event, or every matched_data in an API response.")
    .requiredOption("--private-key-file <path>", "file with the output of keygen, or with only the private key")
    .option("--data <text>", "the matched_data (default: standard input)")
    .action(async (options: { privateKeyFile: string; data?: string }) =>
      finish(await (await import("./matched-data.ts")).decrypt(options)),
    );
}

function addEventsTail(parent: Command, finish: Finish): void {
  const command = parent
    .command("tail")
    .description("Print security events or requests as they occur, until interrupted: one per line, or with --json as JSON objects.")
    .option("--requests", "show edge requests instead of security events")
    .option("--zone <name>", "the zone to follow, such as example.com, or its identifier if the token has no Zone Read permission")
    .option("--account <id>", "the account whose zones to follow")
    .option("--filter <name=value>", "a filter of the activity log, such as action=block or client_ip=192.0.2.0/24; repeatable", collect)
    .option("--for <seconds>", "stop after this time")
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
    .option("--api <url>", "base URL of the API (default: SELVEDGE_API, else the server that uses the data directory)")
    .option("--token <secret>", "API token; prefer SELVEDGE_TOKEN, because other users can see a command's arguments");

function addConfig(parent: Command, finish: Finish): void {
  const command = parent
    .command("check")
    .description("Read the configuration as start does, and print each value with its source. Exits 2 if the configuration is invalid.");
  const flags = addConfigFlags(command);
  command.action(async () => finish((await import("./config-check.ts")).configCheck(flags)));
}

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

function packageVersion(): string {
  const text = readFileSync(new URL(import.meta.resolve("#package.json")), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Says in one sentence what went wrong; a defect shows its place below. */
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
  if (!(error instanceof Error)) complain([`unexpected error: ${String(error)}`]);
  // The system's own errors, such as a full disk, say what is wrong; of anything else the place is needed to mend it.
  else if ("syscall" in error) complain([error.message]);
  else
    complain([`unexpected error: ${error.message}`, "this is a defect of selvedge; please report it with these lines:", error.stack ?? ""]);
  return EXIT.failed;
}

const GETTING_STARTED = `
Getting started:
  selvedge start                          run everything on this machine, with state in ./.selvedge
  selvedge status                         show where it listens and whether it is ready
  selvedge token create --name ci --all   create another API token
  selvedge token reset                    give the first API token a new secret, for example if it was lost
  selvedge start --help                   show all configuration options
`;
