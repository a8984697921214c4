import { createReadStream } from "node:fs";
import { createShapeReader, type ShapeReader } from "#api/deprecations/call-recorder.ts";
import type { CountedCall } from "#api/deprecations/rehearsal-report.ts";
import { ROUTES } from "#api/routes/table.ts";
import { DEPRECATIONS } from "#deprecations/table.ts";
import type { CallShape } from "#deprecations/call-shape.ts";
import type { Query } from "#deprecations/effect-handler.ts";
import { CliError, EXIT } from "../outcome.ts";
import { logEntries } from "./log-entries.ts";
import { loggedCall } from "./logged-call.ts";

export interface CallLog {
  readonly calls: readonly CountedCall[];
  /** Entries that are not calls of the management API. */
  readonly skipped: number;
  /** Where the first of them is; null if none is. */
  readonly firstSkipped: string | null;
  /** Forms were dropped, because there are too many. */
  readonly isCut: boolean;
}

const FORMS_MAX = 20_000;

/** Reads calls from a file. Calls of one form count together, so that a long log takes little memory. */
export async function readCallLog(path: string): Promise<CallLog> {
  const input = path === "-" ? process.stdin : createReadStream(path);
  const failed = new Promise<never>((_resolve, reject) =>
    input.once("error", (error: Error) => reject(new CliError(`cannot read ${path}: ${error.message}`, EXIT.usage))),
  );
  const counted = new Map<string, CountedCall>();
  const match = createMatcher();
  let firstSkipped: string | null = null;
  let [skipped, isCut] = [0, false];
  const read = async (): Promise<void> => {
    for await (const { value, at } of logEntries(input)) {
      const call = callOf(value, match);
      if (call === undefined) {
        skipped++;
        firstSkipped ??= at;
        continue;
      }
      const key = JSON.stringify([call.route, call.shape, call.token_id]);
      const known = counted.get(key);
      if (known !== undefined) counted.set(key, { ...known, calls: known.calls + 1 });
      else if (counted.size < FORMS_MAX) counted.set(key, call);
      else isCut = true;
    }
  };
  await Promise.race([read(), failed]);
  return { calls: [...counted.values()], skipped, firstSkipped, isCut };
}

function callOf(entry: unknown, match: Matcher): CountedCall | undefined {
  const call = loggedCall(entry);
  const found = call === null ? undefined : match(call.method, call.target, call.body);
  return found && { ...found, api_date: null, token_id: call?.token ?? "", token_name: null, day: "", calls: 1 };
}

type Matcher = (method: string, path: string, body: unknown) => { readonly route: string; readonly shape: CallShape } | undefined;

/** Finds the route of a path, whose parameters may also be written as in the reference: `{zone_id}`, `:zone_id`. */
function createMatcher(): Matcher {
  const bySize = Map.groupBy(ROUTES, ({ method, path }) => `${method} ${path.split("/").length}`);
  const readers = new Map<string, ShapeReader>();
  return (method, target, body) => {
    const [path = "", query = ""] = target.split("?", 2);
    const parts = (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
    // Literal path segments take precedence over parameters: /user/tokens/verify is not a token.
    const route = (bySize.get(`${method} ${parts.length}`) ?? [])
      .filter((candidate) => candidate.path.split("/").every((part, at) => part.startsWith(":") || part === parts[at]))
      .toSorted((a, b) => a.path.split(":").length - b.path.split(":").length)[0];
    if (route === undefined) return undefined;
    const name = `${route.method} ${route.path}`;
    const reader = readers.get(name) ?? createShapeReader(DEPRECATIONS, route);
    readers.set(name, reader);
    return { route: name, shape: reader(queryOf(query), body) };
  };
}

function queryOf(text: string): Query {
  const query: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const known = query[name];
    query[name] = known === undefined ? value : [...[known].flat(), value];
  }
  return query;
}
