import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { openEventDatabase } from "#events/database/database.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { packed, testGatewayRow } from "#events/testing/rows.ts";
import {
  filtersSql,
  LOG_FILTER_KEYS,
  LOG_OPERATORS,
  type LogFilter,
  type LogFilterKey,
  type LogFilterValue,
  type LogOperator,
} from "./filters.ts";
import type { LogOrder } from "#events/read/log-keys.ts";
import { openGatewayLogReads } from "#events/read/log-reads.ts";
import { openGatewayLogStore } from "#events/read/store.ts";

/** In pieces of two rows, so that each result is of several. */
const storeOver = (path: string) => openGatewayLogStore(path, openGatewayLogReads(path, { rows: 2, timeMs: 600_000 }));
const SCOPE = { account_id: "mine", gateway_id: "gw" };

const word = fc.constantFrom("", "a", "B", "ab", "aB", "%", "_", "ü", "openai", "1", "2.5", "true");
const small = fc.option(fc.integer({ min: 0, max: 4 }), { nil: null });
const metadata = fc.oneof(
  fc.constant(""),
  fc
    .dictionary(fc.constantFrom("user", "team", "n"), fc.oneof(word, fc.integer({ min: 0, max: 3 }), fc.boolean()))
    .map((value) => JSON.stringify(value)),
);
const row: fc.Arbitrary<Partial<GatewayLogRow>> = fc.record({
  account_id: fc.constantFrom("mine", "mine", "mine", "other"),
  gateway_id: fc.constantFrom("gw", "gw", "gw", "gw2"),
  at_ms: fc.integer({ min: 1000, max: 1005 }),
  provider: word,
  model: word,
  model_type: word,
  request_type: word,
  success: fc.boolean(),
  cached: fc.boolean(),
  authentication: fc.boolean(),
  compatibility_mode: fc.boolean(),
  dlp_action: word,
  guardrail_action: word,
  guardrail_findings: word,
  user_agent: word,
  event_id: word,
  metadata,
  duration_ms: fc.integer({ min: 0, max: 4 }),
  tokens_in: small,
  tokens_out: small,
  cost: fc.option(fc.constantFrom(0, 0.25, 0.5, 1), { nil: null }),
  feedback: fc.option(fc.constantFrom(-1, 0, 1), { nil: null }),
  score: small,
});

const VALUES: Readonly<Record<string, fc.Arbitrary<LogFilterValue>>> = {
  created_at: fc.integer({ min: 999, max: 1006 }).chain((ms) => fc.constantFrom<LogFilterValue>(ms, new Date(ms).toISOString())),
  ...Object.fromEntries(
    ["success", "cached", "authentication", "wholesale", "compatibilityMode"].map((key) => [
      key,
      fc.constantFrom<LogFilterValue>(true, false, "true", "false"),
    ]),
  ),
  ...Object.fromEntries(
    ["cost", "tokens", "tokens_in", "tokens_out", "duration", "feedback", "score"].map((key) => [
      key,
      fc.constantFrom<LogFilterValue>(-1, 0, 0.25, 1, 2, "3", null),
    ]),
  ),
  "metadata.key": fc.constantFrom<LogFilterValue>("user", "team", "x", "E"),
  "metadata.value": fc.oneof(word, fc.constantFrom<LogFilterValue>(1, 2, true)),
};
const ORDERED = new Set<LogFilterKey>(["id", "created_at", "cost", "tokens", "tokens_in", "tokens_out", "duration", "feedback", "score"]);
const TEXT = new Set<LogFilterKey>([
  "id",
  "request_content_type",
  "response_content_type",
  "request_type",
  "provider",
  "model",
  "model_type",
  "event_id",
  "metadata.key",
  "metadata.value",
  "dlp_action",
  "guardrail_action",
  "guardrail_findings",
  "user_agent",
]);

const filter: fc.Arbitrary<LogFilter> = fc.constantFrom(...LOG_FILTER_KEYS).chain((key) =>
  fc.record({
    key: fc.constant(key),
    operator: fc.constantFrom(
      ...LOG_OPERATORS.filter((one) => one === "eq" || one === "neq" || (one === "contains" ? TEXT.has(key) : ORDERED.has(key))),
    ),
    value: fc.array(VALUES[key] ?? word, { minLength: 1, maxLength: 2 }),
    negated: fc.boolean(),
  }),
);

/** The meaning of filters, said again without SQL. */
function fits(log: GatewayLogRow, { key, operator, value, negated = false }: LogFilter): boolean {
  const test = (one: LogFilterValue): boolean => {
    if (key === "metadata.key" || key === "metadata.value") {
      const entries = Object.entries(JSON.parse(log.metadata === "" ? "{}" : String(log.metadata)) as Record<string, unknown>);
      const texts = entries.map(([name, entry]) => (key === "metadata.key" ? name : String(entry)));
      const some = texts.some((text) => compare(text, operator === "neq" ? "eq" : operator, String(one)));
      return operator === "neq" ? !some : some;
    }
    const held = HELD[key]?.(log) ?? (log as unknown as Readonly<Record<string, LogFilterValue>>)[key] ?? null;
    if (one === null) return compare(held, operator, null);
    if (key === "created_at") return compare(held, operator, typeof one === "string" ? Date.parse(one) : one);
    if (typeof held === "boolean") return compare(held, operator, String(one) === "true");
    return compare(held, operator, ORDERED.has(key) && key !== "id" ? Number(one) : String(one));
  };
  const isFit = operator === "neq" ? value.every(test) : value.some(test);
  return isFit !== negated;
}

/** A value right after a key is the key's own; with "neq" or negated each stands for itself. */
function fitsAll(log: GatewayLogRow, filters: readonly LogFilter[]): boolean {
  const isPlain = ({ operator, negated = false }: LogFilter): boolean => operator !== "neq" && !negated;
  const keyBefore = (i: number): LogFilter | undefined => {
    const [key, value] = [filters[i - 1], filters[i]];
    const isPair = key?.key === "metadata.key" && value?.key === "metadata.value" && isPlain(key) && isPlain(value);
    return isPair ? key : undefined;
  };
  return filters.every((one, i) => {
    const key = keyBefore(i);
    if (key === undefined) return fits(log, one);
    const entries = Object.entries(JSON.parse(log.metadata === "" ? "{}" : String(log.metadata)) as Record<string, unknown>);
    return entries.some(([name, entry]) => {
      const alone = { ...log, metadata: JSON.stringify({ [name]: entry }) };
      return fits(alone, key) && fits(alone, one);
    });
  });
}

const HELD: Readonly<Record<string, (log: GatewayLogRow) => LogFilterValue>> = {
  created_at: (log) => log.at_ms,
  tokens: (log) => (log.tokens_in ?? 0) + (log.tokens_out ?? 0),
  duration: (log) => log.duration_ms,
  wholesale: () => false,
  compatibilityMode: (log) => log.compatibility_mode ?? false,
};

function compare(held: LogFilterValue, operator: LogOperator, wanted: LogFilterValue): boolean {
  if (operator === "eq") return held === wanted;
  if (operator === "neq") return held !== wanted;
  if (held === null || wanted === null) return false;
  // SQLite folds the case of ASCII only.
  const lower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (operator === "contains") return lower(String(held)).includes(lower(String(wanted)));
  return operator === "lt" ? held < wanted : held > wanted;
}

test("property: lists, counts, limits and deletions follow filters, order and search, and stay within the gateway", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-filters-"));
  try {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 12 }),
        fc.array(filter, { maxLength: 3 }),
        fc.constantFrom("", "a", "%", "USER", "0"),
        fc.constantFrom<LogOrder>(
          "created_at",
          "provider",
          "model",
          "model_type",
          "success",
          "cached",
          "cost",
          "tokens_in",
          "duration",
          "feedback",
        ),
        fc.constantFrom("asc" as const, "desc" as const),
        async (given, filters, search, orderBy, direction) => {
          const path = join(directory, `${run++}.db`);
          const database = openEventDatabase(path);
          const rows = given.map((changes, i) => testGatewayRow({ id: `0${i}`, path: "/p", ...changes }));
          database.insert([packed("gateway_logs", rows)]);
          database.close();
          const store = storeOver(path);
          try {
            const inScope = rows.filter((log) => log.account_id === SCOPE.account_id && log.gateway_id === SCOPE.gateway_id);
            const filtered = inScope.filter((log) => fitsAll(log, filters));
            const lower = (text: string | undefined): string => (text ?? "").toLowerCase();
            const expected = filtered.filter(
              (log) =>
                search === "" ||
                [log.id, log.provider, log.model, log.path, log.event_id, log.metadata].some((text) =>
                  lower(text).includes(search.toLowerCase()),
                ),
            );
            const query = { filters, search };
            const listed = await store.list(SCOPE, { ...query, orderBy, direction, limit: 100, offset: 0 });
            assert.deepEqual(listed.map((log) => log.id).sort(), expected.map((log) => log.id).sort());
            assert.equal(await store.count(SCOPE, query), expected.length);
            const costs = expected.flatMap((log) => (log.cost === null ? [] : [log.cost]));
            assert.equal((await store.bounds(SCOPE, query)).max_cost, costs.length === 0 ? null : Math.max(...costs));
            const pages = [0, 1, 2].map((page) => store.list(SCOPE, { ...query, orderBy, direction, limit: 4, offset: page * 4 }));
            const paged = (await Promise.all(pages)).flat();
            assert.deepEqual(paged, listed.slice(0, 12), "the order is total");
            const times = orderBy === "created_at" ? listed.map((log) => log.at_ms * (direction === "asc" ? 1 : -1)) : [];
            assert.deepEqual(
              times,
              times.toSorted((a, b) => a - b),
            );
            const all = await store.list(SCOPE, { filters, search: "", orderBy, direction, limit: 100, offset: 0 });
            assert.equal(await store.delete(SCOPE, { filters, orderBy, direction, limit: 3 }), Math.min(3, filtered.length));
            assert.deepEqual(await store.list(SCOPE, { filters, search: "", orderBy, direction, limit: 100, offset: 0 }), all.slice(3));
            const others = { account_id: "other", gateway_id: "gw" };
            assert.equal(
              await store.count(others, { filters: [], search: "" }),
              rows.filter((log) => log.account_id === "other" && log.gateway_id === "gw").length,
            );
          } finally {
            store.close();
          }
        },
      ),
      { numRuns: 60 },
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a metadata value that is requested with its key does not match another key", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-filters-"));
  try {
    const path = join(directory, "events.db");
    const database = openEventDatabase(path);
    const rows = [{ team: "red" }, { team: "blue", shirt: "red" }, { team: 5 }].map((metadata, i) =>
      testGatewayRow({ ...SCOPE, id: `0${i}`, metadata: JSON.stringify(metadata) }),
    );
    database.insert([packed("gateway_logs", rows)]);
    database.close();
    const store = storeOver(path);
    const found = async (...filters: LogFilter[]): Promise<readonly string[]> =>
      (await store.list(SCOPE, { filters, search: "", orderBy: "created_at", direction: "asc", limit: 9, offset: 0 }))
        .map(({ id }) => id)
        .sort();
    const team: LogFilter = { key: "metadata.key", operator: "eq", value: ["team"] };
    const red: LogFilter = { key: "metadata.value", operator: "eq", value: ["red"] };
    try {
      assert.deepEqual(await found(team, red), ["00"]);
      assert.deepEqual(await found(red), ["00", "01"]);
      assert.deepEqual(await found(team, { ...red, operator: "gt", value: [4] }), ["02"]);
      assert.deepEqual(await found(team, { ...red, value: ["red", "blue"] }), ["00", "01"]);
    } finally {
      store.close();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("the log store refuses invalid filters with the reason", () => {
  const refused = (key: LogFilterKey, operator: LogOperator, value: LogFilterValue): void =>
    assert.throws(() => filtersSql([{ key, operator, value: [value] }]), RangeError);
  refused("success", "gt", true);
  refused("success", "eq", "maybe");
  refused("cost", "contains", 1);
  refused("cost", "eq", "much");
  refused("created_at", "gt", "yesterday");
  refused("provider", "lt", "a");
  assert.deepEqual(filtersSql([]), { sql: "1", values: [] });
});
