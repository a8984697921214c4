import assert from "node:assert/strict";
import { test } from "node:test";
import { createRowMasker, hasTexts, maskingsIn } from "./mask-rows.ts";
import type { MaskTexts } from "./mask-texts.ts";
import { type FacetNumber, numberRows, type PackedRows, unpackRows } from "#events/rows/packed-rows.ts";
import { EVENT_SCHEMA, storedColumns } from "#events/rows/schema.ts";
import { eventsOfRequests } from "#events/rows/request-events.ts";
import { packed, packedRequests, testRequestEvent, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";

const mask: MaskTexts = (texts, separator) =>
  texts.some((text) => text.includes("secret")) ? texts.map((text) => text.replaceAll("secret", `<${separator}>`)) : texts;

/** The cells of a column in all rows; of a facet the texts of its combination. */
function cells(rows: PackedRows, name: string): unknown[] {
  const columns = storedColumns(rows.table);
  const seen: string[] = [];
  const numberOf: FacetNumber = (_facet, texts) => seen.push(texts.join("|")) - 1;
  const all = unpackRows(numberRows(rows, numberOf));
  const at = columns.findIndex((column) => column.name === name);
  return Array.from({ length: rows.rows }, (_, row) => {
    const cell = all[row * columns.length + at];
    return columns[at]?.facet === null ? cell : seen[Number(cell)];
  });
}

test("the masker masks texts that clients choose, and leaves all other texts unchanged", () => {
  const rows = packed("requests", [
    testRequestRow({ path: "/secret/a", query: "q=1" }),
    testRequestRow({ path: "/secret/a", query: "q=secret", ray_id: "secret ray" }),
    testRequestRow({ path: "/", query: "q=secret", user_agent: "bot secret" }),
  ]);
  const masked = createRowMasker(mask)(rows);
  assert.deepEqual(cells(masked, "path"), ["/</>/a", "/</>/a", "/"]);
  assert.deepEqual(cells(masked, "query"), ["q=1", "q=<&>", "q=<&>"]);
  assert.deepEqual(cells(masked, "agent"), ["test/1", "test/1", "bot <>"]);
  assert.deepEqual(cells(masked, "ray_id"), ["00000000000000aa", "secret ray", "00000000000000aa"]);
  assert.deepEqual(masked.numbers, rows.numbers);
});

test("the masker masks security events like requests, and leaves rows without a finding unchanged", () => {
  const maskRows = createRowMasker(mask);
  const event = maskRows(packed("security_events", [testSecurityRow({ query: "q=secret" })]));
  assert.deepEqual(cells(event, "query"), ["q=<&>"]);
  const { events, ...requests } = maskRows(packedRequests([[testRequestRow({ query: "q=secret" }), [testRequestEvent()]]]));
  assert.deepEqual(events && cells(eventsOfRequests(requests, events), "query"), ["q=<&>"], "and so are those of requests, with them");
  const plain = packed("requests", [testRequestRow({ path: "/a/long/path" })]);
  assert.deepEqual(maskRows(plain), plain);
  assert.ok(hasTexts(plain, 8) && !hasTexts(plain, 30));
  assert.ok(hasTexts(packed("requests", [testRequestRow({ path: "/", user_agent: "a name of a program" })]), 8));
  assert.ok(EVENT_SCHEMA.requests.facets.includes("agent"));
});

test("the masker masks names in matches of events, by the setting of their zone", () => {
  const match = (name?: string) => ({
    detector: "",
    rule_id: "r",
    count: 1,
    offset: 0,
    confidence: "high",
    part: "http.request.body.form",
    ...(name === undefined ? {} : { name }),
  });
  const matches = [match("a"), match('the "secret" name'), match()] as never;
  const maskRows = createRowMasker(mask);
  const namesIn = (rows: PackedRows): unknown[] =>
    cells(rows, "matches").map((cell) => (JSON.parse(String(cell)) as { name?: string }[]).map(({ name }) => name));
  const masked = [["a", 'the "<>" name', undefined]];
  const rows = packed("security_events", [testSecurityRow({ path: "/", query: "", matches })]);
  assert.deepEqual(namesIn(maskRows(rows)), masked);
  assert.ok(hasTexts(rows, 12));
  const short = packed("security_events", [testSecurityRow({ path: "/", query: "", user_agent: "", matches: [match("short")] as never })]);
  assert.ok(hasTexts(short, 5) && !hasTexts(short, 6));
  const requests = packedRequests([[testRequestRow({ path: "/", query: "" }), [testRequestEvent({ matches })]]]);
  const { events, ...others } = maskRows(requests);
  assert.deepEqual(events && namesIn(eventsOfRequests(others, events)), masked);
  assert.ok(hasTexts(requests, 12));
  const zone = testRequestRow().zone_id;
  for (const [masking, names] of [
    ["off", matches],
    ["all", masked],
  ] as const) {
    const { events: chosen, ...rest } = createRowMasker(mask)(requests, new Map([[zone, masking]]));
    const expected = names === matches ? [["a", 'the "secret" name', undefined]] : masked;
    assert.deepEqual(chosen && namesIn(eventsOfRequests(rest, chosen)), expected, masking);
  }
});

test("a long user agent is scanned completely, and its beginning is stored", () => {
  const agents = ["a".repeat(512), `${"b".repeat(600)}`, `${"c".repeat(510)}secret`];
  const rows = packed(
    "requests",
    agents.map((user_agent) => testRequestRow({ user_agent })),
  );
  assert.deepEqual(cells(createRowMasker(mask)(rows), "agent"), ["a".repeat(512), "b".repeat(512), `${"c".repeat(510)}<>`]);
});

test("a user agent is scanned once while it is remembered, and masked each time it has a finding", () => {
  let looked: string[] = [];
  const maskRows = createRowMasker((texts, separator) => {
    if (separator === "") looked.push(...texts);
    return mask(texts, separator);
  });
  const agentsOf = (...names: string[]): unknown[] => {
    looked = [];
    return cells(
      maskRows(
        packed(
          "requests",
          names.map((user_agent) => testRequestRow({ user_agent })),
        ),
      ),
      "agent",
    );
  };
  const long = "a".repeat(500);
  assert.deepEqual(agentsOf("browser", "bot secret", long, "browser"), ["browser", "bot <>", long, "browser"]);
  assert.deepEqual(agentsOf("bot secret", "browser", "other"), ["bot <>", "browser", "other"]);
  assert.deepEqual(looked, ["bot secret", "other"]);
  // Long ones and thousands of others do not fill the memory.
  agentsOf(long);
  assert.deepEqual(looked, [long]);
  for (let from = 0; from < 10_000; from += 1000) agentsOf(...Array.from({ length: 1000 }, (_, index) => `agent ${from + index}`));
  agentsOf("browser", "agent 9999");
  assert.deepEqual(looked, ["browser"]);
});

test("a zone can mask all findings of detectors, or none, and other zones are not affected", () => {
  const all: MaskTexts = (texts) => texts.map((text) => text.replaceAll(/secret|doubtful/g, "#"));
  const zones = ["0".repeat(32), "a".repeat(32), "b".repeat(32)];
  const rows = packed(
    "requests",
    [...zones, ...zones].map((zone_id) => testRequestRow({ zone_id, path: "/secret/doubtful", query: `zone=${zone_id}` })),
  );
  const maskings = maskingsIn([rows], (zoneId) => ({ [zones[1]!]: "all", [zones[2]!]: "off" })[zoneId] as "all" | "off" | undefined);
  assert.deepEqual(
    [...(maskings ?? [])],
    [
      [zones[1], "all"],
      [zones[2], "off"],
    ],
  );
  const masked = createRowMasker(mask, () => all)(rows, maskings ?? undefined);
  const expected = ["/</>/doubtful", "/#/#", "/secret/doubtful"];
  assert.deepEqual(cells(masked, "path"), [...expected, ...expected]);
  assert.deepEqual(cells(masked, "query"), cells(rows, "query"));
  assert.equal(
    maskingsIn([rows], () => undefined),
    null,
  );
});
