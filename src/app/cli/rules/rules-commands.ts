import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { isDeepStrictEqual } from "node:util";
import { loadConfig } from "#app/config/config.ts";
import type { ApiClient } from "../api-client.ts";
import { configInput } from "../config-input.ts";
import { CliError, EXIT, type ExitCode, print } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi, plainZoneName, requireZone } from "../zone/zone-api.ts";
import { ruleDiffLines, diffRules, type PhaseDiff } from "./rules-diff.ts";
import { fileRule, readRulesFile, type RulesFile } from "./rules-file.ts";
import { writePhases } from "./write-phases.ts";

export interface RulesOptions extends ApiOptions {
  /** In place of the zone that the file names. */
  readonly zone?: string;
}

export interface RulesApplyOptions extends RulesOptions {
  readonly yes?: boolean;
}

interface Ruleset {
  readonly id: string;
  readonly kind: string;
  readonly phase: string;
  readonly rules?: readonly Readonly<Record<string, unknown>>[];
}

/** Prints the rules of a zone as a file of rules. */
export async function rulesExport(zone: string, options: ApiOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data } = loadConfig(configInput(flags));
  const api = openZoneApi(options, data);
  const name = plainZoneName(zone);
  const phases = await phasesOf(api, await requireZone(api, name), name);
  process.stdout.write(`${JSON.stringify({ zone: name, phases }, null, 2)}\n`);
  return EXIT.ok;
}

/** Shows what `rules apply` would change, and has the API check it. */
export async function rulesDiff(file: string, options: RulesOptions, flags: readonly string[]): Promise<ExitCode> {
  const { api, json, zone, id, diff } = await compared(file, options, flags);
  print(json, { zone, changes: machineForm(diff) }, diff.length === 0 ? ["no difference"] : ruleDiffLines(diff));
  await check(api, id, diff);
  return EXIT.ok;
}

/** Shows the differences, asks, and makes the zone's rules those of the file. */
export async function rulesApply(file: string, options: RulesApplyOptions, flags: readonly string[]): Promise<ExitCode> {
  const { api, json, zone, id, current, diff } = await compared(file, options, flags);
  const result = { zone, changes: machineForm(diff) };
  if (diff.length === 0) {
    print(json, result, [`the rules of ${zone} are already those of the file`]);
    return EXIT.ok;
  }
  await check(api, id, diff);
  if (options.yes !== true) await confirm(diff, zone);
  else if (!json) process.stdout.write(`${ruleDiffLines(diff).join("\n")}\n`);
  // A person takes time to answer, and rules that others add meanwhile would go without a word.
  if (!isDeepStrictEqual(await phasesOf(api, id, zone), current))
    throw new CliError(`the rules of ${zone} have changed since they were compared: nothing was changed; compare and apply again`);
  await writePhases(
    diff,
    current,
    async (phase, rules) => void (await explained(phase, () => api.call("PUT", entryPoint(id, phase), { rules }))),
  );
  print(json, result, [`the rules of ${zone} are now those of the file`]);
  return EXIT.ok;
}

const entryPoint = (zone: string, phase: string): string => `/zones/${zone}/rulesets/phases/${encodeURIComponent(phase)}/entrypoint`;

/** Throws CliError if the API would refuse a phase. */
async function check(api: ApiClient, zone: string, diff: readonly PhaseDiff[]): Promise<void> {
  for (const { phase, rules } of diff) await explained(phase, () => api.call("PUT", `${entryPoint(zone, phase)}?dry_run=true`, { rules }));
}

interface Compared {
  readonly api: ApiClient;
  readonly json: boolean;
  readonly zone: string;
  readonly id: string;
  /** The zone's rules. */
  readonly current: RulesFile["phases"];
  readonly diff: readonly PhaseDiff[];
}

async function compared(file: string, options: RulesOptions, flags: readonly string[]): Promise<Compared> {
  const { data, json } = loadConfig(configInput(flags));
  const wanted = readRulesFile(file === "-" ? await text(process.stdin) : contentOf(file), file === "-" ? "standard input" : file);
  const api = openZoneApi(options, data);
  const zone = plainZoneName(options.zone ?? wanted.zone);
  const id = await requireZone(api, zone);
  const current = await phasesOf(api, id, zone);
  return { api, json, zone, id, current, diff: diffRules(current, wanted.phases) };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

/** Rules of the zone's own entry points; managed rulesets and their rules are the server's. */
async function phasesOf(api: ApiClient, id: string, zone: string): Promise<RulesFile["phases"]> {
  return explained(`zone ${zone}`, async () => {
    const rulesets = (await api.call("GET", `/zones/${id}/rulesets`)) as readonly Ruleset[];
    const phases: [string, RulesFile["phases"][string]][] = [];
    for (const { kind, id: ruleset, phase } of rulesets) {
      if (kind !== "zone") continue;
      const { rules = [] } = (await api.call("GET", `/zones/${id}/rulesets/${ruleset}`)) as Ruleset;
      phases.push([phase, rules.map(fileRule)]);
    }
    return Object.fromEntries(phases.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

const machineForm = (diff: readonly PhaseDiff[]): readonly object[] =>
  diff.map(({ phase, changes, isReordered }) => ({ phase, changes, reordered: isReordered }));

async function confirm(diff: readonly PhaseDiff[], zone: string): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new CliError("nobody can be asked here: look at the changes with `selvedge rules diff`, and apply them with --yes", EXIT.usage);
  process.stdout.write(`${ruleDiffLines(diff).join("\n")}\n`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`Change the rules of ${zone}? [y/N] `).finally(() => terminal.close());
  if (!/^y(?:es)?$/i.test(answer.trim())) throw new CliError("nothing was changed");
}
