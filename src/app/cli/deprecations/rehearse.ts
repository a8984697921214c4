import { writeFileSync } from "node:fs";
import { rehearsalReport } from "#api/deprecations/rehearsal-report.ts";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { deprecationTable } from "#deprecations/later-rows.ts";
import { isoDate, type IsoDate, parseIsoDate, systemClock } from "#kernel/clock.ts";
import type { Rehearsal, RehearsalFinding } from "#model/access/rehearsal.ts";
import { loadConfig } from "#app/config/config.ts";
import type { ApiClient } from "../api-client.ts";
import { forSeconds } from "../command-parts.ts";
import { configInput } from "../config-input.ts";
import { CliError, columns, complain, EXIT, type ExitCode, print, printable } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi } from "../zone/zone-api.ts";
import { readCallLog } from "./call-log.ts";
import { requireAccount } from "./list.ts";
import { rehearsalPage } from "./rehearsal-page.ts";

export interface RehearseOptions extends ApiOptions {
  readonly asOf: string;
  /** Such as `7d`. */
  readonly since?: string;
  readonly log?: string;
  readonly live?: boolean;
  /** Seconds. */
  readonly for?: string;
  readonly from?: string;
  readonly account?: string;
  readonly html?: string;
}

const DAYS = 7;
const DAYS_MAX = 30;
const LIVE_EVERY_MS = 5_000;

/** Rehearses a day with recorded, logged or coming calls. */
export async function rehearseCalls(options: RehearseOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json, deprecations } = loadConfig(configInput(flags));
  const asOf = dayOf("--as-of", options.asOf);
  const ways = [options.log !== undefined, options.live === true, options.since !== undefined].filter(Boolean);
  if (ways.length > 1) throw new CliError("set one of --log, --live and --since", EXIT.usage);
  const report =
    options.log === undefined
      ? await ofServer(openZoneApi(options, data), options, asOf)
      : await ofLog(options.log, options.from, asOf, deprecationTable(deprecations.later_rows));
  print(json, report, linesOf(report));
  if (options.html !== undefined) writeFileSync(options.html, rehearsalPage(report));
  return report.breaking === 0 ? EXIT.ok : EXIT.failed;
}

async function ofLog(path: string, from: string | undefined, asOf: IsoDate, table: readonly Deprecation[]): Promise<Rehearsal> {
  const worked = from === undefined ? isoDate(systemClock.nowMs()) : dayOf("--from", from);
  // Nothing ends between the two, so a report would be good news about nothing.
  if (asOf <= worked)
    throw new CliError(`--as-of ${asOf} must come after --from, the day on which the calls worked, which is ${worked}`, EXIT.usage);
  const { calls, skipped, firstSkipped, isCut } = await readCallLog(path);
  const left = `${skipped} entries are not calls of the management API`;
  if (calls.length === 0) {
    const reason = skipped === 0 ? "it has no entry" : `${left}, beginning with ${firstSkipped}`;
    throw new CliError(`nothing to rehearse in ${path}: ${reason}`, EXIT.usage);
  }
  if (skipped > 0) complain([`${left} and were left out, beginning with ${firstSkipped}`]);
  return rehearsalReport(table, calls, { from: worked, asOf, isCut });
}

async function ofServer(api: ApiClient, options: RehearseOptions, asOf: IsoDate): Promise<Rehearsal> {
  const account = await requireAccount(api, options.account);
  const path = `/accounts/${encodeURIComponent(account)}/deprecations/rehearsals`;
  const ask = async (days: number): Promise<Rehearsal> => {
    const report = (await explained("rehearsal", () => api.call("POST", path, { as_of: asOf, days }))) as Rehearsal;
    if (asOf <= report.from)
      throw new CliError(`nothing can end: --as-of ${asOf} is not after ${report.from}, the server's API date`, EXIT.usage);
    return report;
  };
  return options.live === true ? live(() => ask(1), forSeconds("--for", options.for)) : ask(daysOf(options.since));
}

/** Polls, and subtracts the state at the start; new findings are printed as they arrive. */
async function live(ask: () => Promise<Rehearsal>, seconds: number): Promise<Rehearsal> {
  const first = await ask();
  const before = new Map(first.findings.map((finding) => [keyOf(finding), finding.calls]));
  const endMs = systemClock.monotonicMs() + seconds * 1000;
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const seen = new Set<string>();
  for (;;) {
    const leftMs = endMs - systemClock.monotonicMs();
    await pause(Math.min(LIVE_EVERY_MS, Math.max(0, leftMs)), stop.signal);
    const last = since(await ask(), first, before);
    for (const finding of last.findings)
      if (!seen.has(keyOf(finding))) {
        seen.add(keyOf(finding));
        complain([lineOf(finding).join("  ")]);
      }
    if (stop.signal.aborted || systemClock.monotonicMs() >= endMs) return last;
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

function since(now: Rehearsal, first: Rehearsal, before: ReadonlyMap<string, number>): Rehearsal {
  const findings = now.findings
    .map((finding) => ({ ...finding, calls: finding.calls - (before.get(keyOf(finding)) ?? 0) }))
    .filter(({ calls }) => calls > 0);
  // Around midnight the day of the first response ends, and its calls are no longer counted.
  const less = (later: number, earlier: number): number => (later >= earlier ? later - earlier : later);
  return { ...now, findings, calls: less(now.calls, first.calls), breaking: less(now.breaking, first.breaking) };
}

const keyOf = ({ deprecation_id, token_id, route, outcome, last }: RehearsalFinding): string =>
  JSON.stringify([deprecation_id, token_id, route, outcome, last]);

const OUTCOMES: Readonly<Record<RehearsalFinding["outcome"], string>> = {
  gone: "gone",
  refused: "refused",
  ignored: "ignored",
  answer: "answer changes",
};

const lineOf = (finding: RehearsalFinding): readonly string[] => [
  finding.date,
  finding.deprecation_id,
  OUTCOMES[finding.outcome] + (finding.is_kept ? ` (kept by ${finding.api_date ?? "its API date"})` : ""),
  printable(finding.token_name ?? finding.token_id),
  String(finding.calls),
  printable(finding.route),
  finding.replacement ?? "",
];

function linesOf(report: Rehearsal): readonly string[] {
  const head = `${report.calls} calls, of which ${report.breaking} would break on ${report.as_of}`;
  if (report.findings.length === 0) return [head];
  const rewrites = report.findings.flatMap(({ rewrite }) =>
    rewrite === undefined ? [] : ["", rewrite.before, `→ ${rewrite.curl}`, `→ ${rewrite.sdk}`],
  );
  return [
    head,
    ...columns([["DATE", "ID", "OUTCOME", "TOKEN", "CALLS", "ROUTE", "USE INSTEAD"], ...report.findings.map(lineOf)]),
    ...rewrites.map(printable),
  ];
}

function dayOf(option: string, text: string): IsoDate {
  const day = parseIsoDate(text);
  if (day === undefined) throw new CliError(`${option} must be a day such as 2027-01-01`, EXIT.usage);
  return day;
}

function daysOf(text: string | undefined): number {
  if (text === undefined) return DAYS;
  const [, days] = /^([1-9]\d?)d$/.exec(text) ?? [];
  if (days === undefined || Number(days) > DAYS_MAX) throw new CliError(`--since must be 1d to ${DAYS_MAX}d`, EXIT.usage);
  return Number(days);
}
