import { Command, CommanderError, Help } from "commander";
import { ConfigError } from "#app/config/config.ts";
import { packageVersion } from "#app/config/package-version.ts";
import type { Finish } from "./command-parts.ts";
import { addDeprecations } from "./deprecation-commands.ts";
import { addEventsTail, addMatchedData } from "./event-commands.ts";
import { CliError, complain, EXIT, type ExitCode } from "./outcome.ts";
import { addCertificates, addGateways, addHostnames } from "./hosted/hosted-commands.ts";
import { addRules, addWaf } from "./rule-commands.ts";
import { addConfig, addLog, addServerCommands } from "./server-commands.ts";
import { addTokens } from "./token-commands.ts";
import { addBus, addJoin, addNodeList, addNodes, addRollout } from "./nodes/node-commands.ts";
import { addBackup, addRestore } from "./backup-commands.ts";
import { addRecords, addZoneList } from "./zone/record-commands.ts";
import { addTunnels } from "./tunnel/tunnel-commands.ts";
import { addZones } from "./zone-commands.ts";

/** Runs one command line, without the program's name; returns the exit code and never throws. */
export async function main(argv: readonly string[]): Promise<number> {
  let code: ExitCode = EXIT.ok;
  process.stdout.on("error", tellLostOutput);
  // Nothing is left to say it with.
  process.stderr.on("error", () => undefined);
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

/** `help token create` is `token create --help`, and an unknown name is reported as without `help`. */
function helpArguments(program: Command, names: readonly string[]): string[] {
  let command = program;
  for (const name of names) {
    const next = command.commands.find((one) => one.name() === name);
    if (next === undefined) return [...names];
    command = next;
  }
  return [...names, "--help"];
}

let isOutputLost = false;

/**
 * The reader of the output may end early, such as `head`: the command's work does not depend on it. A disk that is full
 * makes the command fail, and leaves a server running.
 */
function tellLostOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code === "EPIPE" || isOutputLost) return;
  isOutputLost = true;
  complain([`cannot write the output: ${message}`]);
  process.once("exit", () => (process.exitCode ||= EXIT.failed));
}

const PLAIN = new Help();
/** A default value is written as one types it. */
const withoutQuotes = (text: string): string =>
  text.includes('(default: "') ? text.replace('(default: "', "(default: ").replace('")', ")") : text;

/** Each command loads its code when it runs, so that none waits for the code of another. */
function createProgram(finish: Finish): Command {
  const program = new Command("selvedge")
    .description("An edge platform on your own machine: management API, nameserver, HTTP edge and AI gateway.")
    .version(packageVersion(), "-v, --version", "print the version")
    .helpOption("-h, --help", "show help for a command")
    .helpCommand("help [command...]", "show help for a command")
    .exitOverride()
    // A command and the group that it is in may have options of the same names.
    .enablePositionalOptions()
    .showHelpAfterError("selvedge: see the command's --help")
    .configureOutput({ outputError: (text, write) => write(`selvedge: ${text.replace(/^error: /, "")}`) })
    .configureHelp({
      optionDescription: (option) => withoutQuotes(PLAIN.optionDescription(option)),
      argumentDescription: (argument) => withoutQuotes(PLAIN.argumentDescription(argument)),
    })
    .addHelpText("after", GETTING_STARTED);

  addServerCommands(program, finish);
  addBackup(program, finish);
  addRestore(program, finish);
  const group = (name: string, description: string): Command => program.command(name).description(description).helpCommand(false);
  addTokens(group("token", "Manage API tokens directly in the database; works with and without a running server."), finish);
  addZones(group("zone", "Manage zones through the management API."), finish);
  addZoneList(program, finish);
  addRecords(group("records", "Manage the DNS records of a zone through the management API."), finish);
  addHostnames(group("hostnames", "Manage the custom hostnames of a zone through the management API."), finish);
  addCertificates(program, finish);
  addGateways(group("gateways", "Manage AI gateways through the management API."), finish);
  addNodes(group("node", "Manage machines that run planes only, directly in the database."), finish);
  addNodeList(program, "nodes", finish);
  addRollout(group("rollout", "Control how changes reach nodes, directly in the database."), finish);
  addJoin(program, finish);
  addBus(group("bus", "Configure the bus, over which nodes follow the changes."), finish);
  addTunnels(group("tunnel", "Connect services to the edge through tunnels."), finish);
  addRules(group("rules", "Keep the rules of a zone in a file, and work with expressions."), finish);
  addMatchedData(group("matched-data", "Decrypt the matched data in security events."), finish);
  addEventsTail(group("events", "Show events that the planes logged, through the management API."), finish);
  addWaf(group("waf", "Manage the rules of the web application firewall."), finish);
  addDeprecations(group("deprecations", "Show which parts of the API end on which day, and which tokens still use them."), finish);
  addLog(group("log", "Control what the running server logs."), finish);
  addConfig(group("config", "Check the configuration."), finish);
  program
    .command("completions")
    .argument("<shell>", "bash, zsh or fish")
    .description("Print a script with which a shell completes commands and flags.")
    .addHelpText("after", COMPLETIONS_EXAMPLES)
    .action(async (shell: string) => {
      process.stdout.write((await import("./completions.ts")).completions(program, shell));
      finish(EXIT.ok);
    });
  return program;
}

/** Describes the error in one sentence; for a defect of the program it adds the stack. */
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
  // Errors of the system, such as a full disk, are self-explanatory; all others need the stack to be fixed.
  else if ("syscall" in error) complain([error.message]);
  else complain([`unexpected error: ${error.message}`, "this is a bug in Selvedge; please report it with these lines:", error.stack ?? ""]);
  return EXIT.failed;
}

const COMPLETIONS_EXAMPLES = `
Examples:
  source <(selvedge completions bash)                                    a line of ~/.bashrc
  source <(selvedge completions zsh)                                     a line of ~/.zshrc, after compinit
  selvedge completions fish > ~/.config/fish/completions/selvedge.fish   once`;

const GETTING_STARTED = `
Getting started:
  selvedge start                          run everything on this machine, with state in ./.selvedge
  selvedge status                         show where it listens and whether it is ready
  eval "$(selvedge env)"                  point SDKs, certbot, lego and others at it; selvedge env terraform and so on
  selvedge token create --name ci --all   create another API token
  selvedge token reset                    give the first API token a new secret, for example if it was lost
  selvedge start --help                   show all configuration options
`;
