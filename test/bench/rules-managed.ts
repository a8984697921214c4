import { createHash } from "node:crypto";
import { compileRuleset } from "#rules/compile/compile-ruleset.ts";
import { runPhase } from "#rules/engine/engine.ts";
import { MANAGED, SCORES } from "#rules/managed/request-rulesets.ts";
import { createSignatureSet } from "#rules/managed/signatures/signature-set.ts";
import { SIGNATURES } from "#rules/managed/signatures/table.ts";
import { createTextTest } from "#rules/managed/signatures/text-test.ts";
import { createRun } from "#rules/engine/run.ts";
import { testRequest } from "#rules/testing/views.ts";
import type { RequestView } from "#rules/views.ts";
import type { Benchmark, Contender } from "./benchmark.ts";

const PHASE = "http_request_firewall_managed";

const HEADERS = {
  Host: ["www.example.com"],
  "User-Agent": ["Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"],
  Accept: ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
  "Accept-Language": ["en-GB,en;q=0.7"],
  "Accept-Encoding": ["gzip, deflate, br, zstd"],
  Referer: ["https://www.example.com/search?q=lamps&page=2"],
  Cookie: ["session=0123456789abcdef0123456789abcdef; theme=dark; consent=a%3A1%2Cb%3A0"],
};

/** A new body for each request, as in real traffic. */
const sending = (type: string, raw: string): RequestView =>
  testRequest({
    method: "POST",
    headers: { ...HEADERS, "content-type": [type] },
    body: { raw, size: raw.length, truncated: false },
  });

/** 2 KB of JSON. */
export const jsonDocument = (i: number): string =>
  JSON.stringify({
    id: i,
    items: Array.from({ length: 16 }, (_, n) => ({
      sku: `sku-${i}-${n}`,
      title: "A lamp for the desk, in brass & glass",
      price: 12.5,
      note: "Ring twice; it's loud",
    })),
  });

const WORDS = "the lamp stands on the desk and it is bright enough to read by at night ";
/** A form of 100 KB. */
export const longForm = (i: number): string =>
  Array.from({ length: 100 }, (_, n) => `field${n}=${i}+${WORDS.repeat(14).replaceAll(" ", "+")}`).join("&");

/** 1 MiB, the inspected length of a body. */
const items = `<items>${Array.from({ length: 5600 }, (_, n) => `<item id="${n}"><title>A lamp in brass &amp; glass</title><note>${n} ${WORDS}; it's ${WORDS}</note></item>`).join("")}</items>`;

const REQUESTS: Readonly<Record<"get" | "json_2kb" | "form_100kb" | "xml_1mb", readonly RequestView[]>> = {
  get: Array.from({ length: 64 }, (_, i) =>
    testRequest({
      path: `/shop/item/${i}/brass-lamp`,
      query: `page=${i}&sort=-date&q=a+lamp+for+O%27Brien&utm_source=mail`,
      headers: HEADERS,
    }),
  ),
  json_2kb: Array.from({ length: 16 }, (_, i) => sending("application/json", jsonDocument(i))),
  form_100kb: Array.from({ length: 2 }, (_, i) => sending("application/x-www-form-urlencoded", longForm(i))),
  // Two, since the last request's values are remembered.
  xml_1mb: ["a", "b"].map((name) => sending("application/xml", items.replaceAll("items>", `${name}>`))),
};

/** Of the round of a side. */
const DISTINCT = 4000;
let distinct = 0;

/** A GET whose path, arguments, cookies and referrer have other words than any request before. */
function distinctGet(i: number): RequestView {
  const word = (n: number): string =>
    createHash("sha256")
      .update(`${i} ${n}`)
      .digest("hex")
      .replaceAll(/\d/g, (digit) => "ghijklmnop"[Number(digit)]!)
      .slice(0, 4 + (n % 7));
  const words = (from: number, count: number, between: string): string =>
    Array.from({ length: count }, (_, n) => word(from + n)).join(between);
  return testRequest({
    path: `/shop/${word(1)}/${i}/${words(2, 2, "-")}`,
    query: `page=${i}&sort=-${word(4)}&q=${words(5, 3, "+")}+O%27${word(8)}&utm_source=${word(9)}`,
    headers: {
      ...HEADERS,
      Referer: [`https://www.example.com/${word(10)}?q=${word(11)}&page=${i}`],
      Cookie: [`session=${words(12, 4, "")}; theme=${word(16)}; consent=a%3A${i}%2Cb%3A0`],
    },
  });
}

/** CPU time of inspecting one request after the other, in microseconds per request. */
function cpuMicros(requests: readonly RequestView[], rounds: number, judge: (request: RequestView) => unknown): number {
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) for (const request of requests) judge(request);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (rounds * requests.length);
}

function contender(name: string, scale: number, judge: (request: RequestView) => unknown): Contender {
  return {
    name,
    run: () => {
      const json_us = Math.round(cpuMicros(REQUESTS.json_2kb, Math.ceil(200 * scale), judge));
      const form_us = Math.round(cpuMicros(REQUESTS.form_100kb, Math.ceil(50 * scale), judge));
      const fresh = DISTINCT * scale;
      const distinct_get_us = Math.round(
        cpuMicros(
          Array.from({ length: fresh }, () => distinctGet(distinct++)),
          1,
          judge,
        ),
      );
      const xml_us = Math.round(cpuMicros(REQUESTS.xml_1mb, Math.ceil(3 * scale), judge));
      return Promise.resolve({
        value: cpuMicros(REQUESTS.get, Math.ceil(500 * scale), judge),
        also: { distinct_get_us, json_2kb_us: json_us, form_100kb_us: form_us, xml_1mb_us: xml_us },
      });
    },
  };
}

/** An entry point that executes both managed rulesets. */
export function bothRulesets() {
  const execute = (id: string) => ({
    id,
    action: "execute",
    action_parameters: { id },
    expression: "true",
    description: "",
    enabled: true,
  });
  return [compileRuleset({ id: "entry", phase: PHASE, rules: [execute(MANAGED.id), execute(SCORES.id)] })];
}

/**
 * Runs both managed rulesets over benign requests, beside testing each of their patterns. Without the rulesets a request costs nothing.
 * `distinct_get_us`: each request has other words, so no result for a value of an earlier one is used again.
 */
export const rulesManaged: Benchmark = {
  name: "rules-managed",
  unit: "µs of CPU for a GET",
  better: "lower",
  tools: [],
  prepare: () => {
    const entry = bothRulesets();
    const everyByte = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
    const each = createSignatureSet(
      SIGNATURES.map((signature) => ({ ...signature, looksFor: { detect: createTextTest(signature, []) }, needs: everyByte })),
    );
    return Promise.resolve({
      ours: contender("selvedge", 1, (request) => runPhase(entry, createRun(), request, null)),
      peers: [contender("each-pattern", 0.05, (request) => SIGNATURES.forEach((_, number) => each.matches(request, number)))],
      close: () => Promise.resolve(),
    });
  },
};
