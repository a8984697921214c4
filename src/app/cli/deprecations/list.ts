import { deprecationTable } from "#deprecations/later-rows.ts";
import { isoDate, type IsoDate, systemClock } from "#kernel/clock.ts";
import type { DeprecationCall } from "#model/access/deprecation-call.ts";
import { loadConfig } from "#app/config/config.ts";
import type { ApiClient } from "../api-client.ts";
import { configInput } from "../config-input.ts";
import { CliError, columns, EXIT, type ExitCode, print, printable } from "../outcome.ts";
import { type ApiOptions, explained, openZoneApi } from "../zone/zone-api.ts";

export interface DeprecationsOptions extends ApiOptions {
  readonly whoCalls?: boolean;
  readonly account?: string;
}

/** Prints the table of deprecations, or the callers that still use them. */
export async function deprecationsList(options: DeprecationsOptions, flags: readonly string[]): Promise<ExitCode> {
  const { data, json, deprecations } = loadConfig(configInput(flags));
  if (options.whoCalls !== true) {
    const followed = deprecationTable(deprecations.later_rows).toSorted((a, b) => (a.date < b.date ? 1 : Number(a.date > b.date) && -1));
    const rows = followed.map(({ date, id, replacement }) => [date, id, replacement ?? ""]);
    print(json, { deprecations: followed }, columns([["DATE", "ID", "USE INSTEAD"], ...rows]));
    return EXIT.ok;
  }
  const api = openZoneApi(options, data);
  const account = await requireAccount(api, options.account);
  const callers = callersOf(await allCalls(api, account));
  const rows = callers.map(({ ends, deprecation_id, token_name, token_id, api_date, route, calls, last }) => [
    ...[ends, deprecation_id, token_name === undefined ? token_id : printable(token_name), api_date ?? "", String(calls), last, route],
  ]);
  print(json, { account_id: account, callers }, columns([["ENDS", "ID", "TOKEN", "API DATE", "CALLS", "LAST", "ROUTE"], ...rows]));
  return EXIT.ok;
}

/** The named account, or the only one that the token can access. Throws CliError if there are several. */
export async function requireAccount(api: ApiClient, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const accounts = (await explained("accounts", () => api.call("GET", "/accounts?per_page=50"))) as readonly { readonly id: string }[];
  const [first, second] = accounts;
  if (first === undefined) throw new CliError("the token can access no account", EXIT.usage);
  if (second !== undefined) throw new CliError(`the token can access ${accounts.length} accounts; choose one with --account`, EXIT.usage);
  return first.id;
}

const PER_PAGE = 1000;
/** A million rows are more than any account has. */
const PAGES_MAX = 1000;

async function allCalls(api: ApiClient, account: string): Promise<readonly DeprecationCall[]> {
  const all: DeprecationCall[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const path = `/accounts/${encodeURIComponent(account)}/deprecation_calls?per_page=${PER_PAGE}&page=${page}`;
    const rows = (await explained("deprecation calls", () => api.call("GET", path))) as readonly DeprecationCall[];
    all.push(...rows);
    if (rows.length < PER_PAGE) break;
  }
  return all;
}

interface Caller extends Omit<DeprecationCall, "day"> {
  /** The day on which the called interface ends or has ended. */
  readonly ends: IsoDate | "";
  /** The last day with a call. */
  readonly last: string;
}

/** Counts over all days: ordered by the next end, and then by the number of calls. */
export function callersOf(calls: readonly DeprecationCall[], today: IsoDate = isoDate(systemClock.nowMs())): readonly Caller[] {
  const ends = new Map(deprecationTable(true).map(({ id, date }) => [id, date]));
  const callers = new Map<string, Caller>();
  for (const { day, ...call } of calls) {
    const key = `${call.deprecation_id} ${call.token_id} ${call.route}`;
    const known = callers.get(key);
    const last = known !== undefined && known.last > day ? known.last : day;
    callers.set(key, { ...call, calls: call.calls + (known?.calls ?? 0), last, ends: ends.get(call.deprecation_id) ?? "" });
  }
  const isOver = ({ ends: day }: Caller): number => (day < today ? 1 : 0);
  return [...callers.values()].toSorted((a, b) => isOver(a) - isOver(b) || a.ends.localeCompare(b.ends) || b.calls - a.calls);
}
