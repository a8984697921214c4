import { withoutEnd } from "#kernel/trim.ts";
import { loadConfig } from "#app/config/config.ts";
import { suggest } from "#app/config/suggest.ts";
import { isAlive, readRunFile, type RunFile } from "#app/operations/run-file.ts";
import { configInput } from "../config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "../outcome.ts";
import { onlyAccount } from "../zone/only-account.ts";
import { openZoneApi } from "../zone/zone-api.ts";
import { ENV_TOOLS } from "./tools.ts";

export interface EnvOptions {
  readonly api?: string;
  readonly account?: string;
  readonly gateway: string;
}

/** Prints the settings with which a tool calls the running server; in place of the token, they contain a variable. */
export async function env(tool: string, options: EnvOptions, flags: readonly string[]): Promise<ExitCode> {
  const found = Object.hasOwn(ENV_TOOLS, tool) ? ENV_TOOLS[tool] : undefined;
  if (found === undefined) throw unknownTool(tool);
  const { data, json } = loadConfig(configInput(flags));
  const base = found.calls === "api" ? apiBase(options, data) : await gatewayBase(options, data);
  const settings = found.text(base);
  print(json, { tool, format: found.format, [found.calls]: base, settings }, [settings]);
  return EXIT.ok;
}

function unknownTool(tool: string): CliError {
  const tools = Object.keys(ENV_TOOLS);
  const near = suggest(tool, tools);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return new CliError(`settings exist for ${tools.join(", ")}, not for ${tool}${hint}`, EXIT.usage);
}

function apiBase({ api }: EnvOptions, data: string): string {
  const given = api ?? process.env["SELVEDGE_API"];
  if (given !== undefined) return quotable(given);
  const run = running(data);
  if (run.api === "")
    throw new CliError(`the server on ${data} has no role control; set the URL of one that has with --api`, EXIT.notRunning);
  return quotable(run.api);
}

async function gatewayBase({ account: given, gateway }: EnvOptions, data: string): Promise<string> {
  const account = given ?? (await accountOfToken(data));
  if (!/^[0-9a-f]{32}$/.test(account)) throw new CliError("--account takes 32 hexadecimal digits", EXIT.usage);
  if (!/^[\w-]{1,64}$/.test(gateway)) throw new CliError("--gateway takes the ID of a gateway, such as main", EXIT.usage);
  const run = running(data);
  if (run.gateway === "") throw new CliError(`the server on ${data} has no role gateway`, EXIT.notRunning);
  return `${quotable(run.gateway)}/v1/${account}/${gateway}`;
}

async function accountOfToken(data: string): Promise<string> {
  if (!process.env["SELVEDGE_TOKEN"])
    throw new CliError("set the account of the gateway with --account ID, or SELVEDGE_TOKEN to find the only one", EXIT.usage);
  return onlyAccount(openZoneApi({}, data));
}

function running(data: string): RunFile {
  const run = readRunFile(data);
  if (run === null || !isAlive(run.pid))
    throw new CliError(`no server runs on ${data}; start one, or set the URL of another API with --api`, EXIT.notRunning);
  return run;
}

/** The settings are for shells and other languages, in which quotes and `$` would have a meaning. */
function quotable(base: string): string {
  const plain = withoutEnd(base, "/");
  if (!URL.canParse(base) || !/^https?:\/\/[\w.:/%[\]-]+$/.test(plain))
    throw new CliError(`not the base URL of an API, such as http://127.0.0.1:8780/client/v4: ${base}`, EXIT.usage);
  return plain;
}
