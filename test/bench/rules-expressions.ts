import { finish } from "#kernel/process/slices.ts";
import { compileExpression } from "#rules/expression/expression.ts";
import { creatingDispatch } from "#rules/expression/compile/dispatch.ts";
import { createIpList } from "#rules/expression/values/lists.ts";
import { testRequest } from "#rules/testing/views.ts";
import type { RequestView } from "#rules/views.ts";
import { interpretExpression } from "../support/expression-interpreter.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";

const PHASE = "http_request_firewall_custom";

/** Typical expressions of custom rules. */
const TYPICAL = [
  '(http.request.uri.path contains "/wp-login.php" and not ip.src in {192.0.2.0/24 198.51.100.0/24})',
  'http.host eq "www.example.com" and starts_with(http.request.uri.path, "/admin") and ip.src.country ne "DE"',
  'http.request.method in {"PUT" "DELETE"} or http.user_agent contains "sqlmap"',
  'lower(http.user_agent) matches "(sqlmap|nikto|nessus)"',
  'http.request.uri.path matches "^/api/v[0-9]+/users/"',
  'any(http.request.headers["x-a"][*] contains "<script")',
  'http.request.full_uri wildcard "https://*.example.com/old/*"',
  'http.request.uri.query contains "union select" or http.cookie contains "evil"',
] as const;

/** A thousand different ones. */
const MANY = Array.from({ length: 1000 }, (_, i) => (TYPICAL[i % TYPICAL.length] ?? "").replace(/"([^"*()[]+)"/, `"$1${i}"`));

const HEADERS = new Map([
  ["x-a", ["one"]],
  ["cookie", ["session=0123456789abcdef; theme=dark"]],
]);

const REQUESTS: readonly RequestView[] = Array.from({ length: 64 }, (_, i) => ({
  ...testRequest({
    path: `/shop/item/${i}/index.php`,
    query: `id=${i}&q=hello`,
    user_agent: `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.${i}`,
    client_ip: `198.51.${i}.7`,
  }),
  headers: (name) => HEADERS.get(name) ?? [],
}));

type Judge = (request: RequestView) => unknown;

/** Rounds over all requests between two reads of the clock. */
const ROUNDS = 16;

/** Microseconds of CPU time per request, so that other processes matter little. */
function timed(seconds: number, judge: Judge): Promise<Measurement> {
  let count = 0;
  const before = process.cpuUsage();
  const started = performance.now();
  while (performance.now() - started < seconds * 1000) {
    for (let round = 0; round < ROUNDS; round++) for (const request of REQUESTS) judge(request);
    count += ROUNDS * REQUESTS.length;
  }
  const { user, system } = process.cpuUsage(before);
  return Promise.resolve({ value: (user + system) / count });
}

function row(
  name: string,
  unit: string,
  target: number,
  prepare: () => { readonly ours: Judge; readonly peer: Judge; readonly peerName: string },
): Benchmark {
  return {
    name,
    unit,
    better: "lower",
    target,
    tools: [],
    prepare: ({ seconds }) => {
      const { ours, peer, peerName } = prepare();
      return Promise.resolve({
        ours: { name: "selvedge", run: () => timed(seconds, ours) },
        peers: [{ name: peerName, run: () => timed(seconds, peer) }],
        close: () => Promise.resolve(),
      });
    },
  };
}

/** Evaluates custom rules one by one, compiled beside interpreted. */
export const rulesExpressions = row("rules-expressions", `CPU µs for ${TYPICAL.length} custom rules`, 0.3 * TYPICAL.length, () => {
  const compiled = TYPICAL.map((text) => compileExpression(text, PHASE));
  const interpreted = TYPICAL.map(interpretExpression);
  return {
    ours: (request) => compiled.filter((applies) => applies(request, null)),
    peer: (request) => interpreted.filter((applies) => applies(request, null)),
    peerName: "interpreter",
  };
});

/** Evaluates a thousand custom rules with a shared dispatch, beside the same closures one by one. */
export const rulesThousand = row("rules-thousand", "CPU µs for 1000 custom rules", 60, () => {
  const filters = MANY.map((text) => compileExpression(text, PHASE));
  const dispatch = finish(creatingDispatch(filters));
  return {
    ours: (request) => {
      const scan = dispatch.scan(request, null);
      while (scan.next() !== -1);
    },
    peer: (request) => filters.filter((applies) => applies(request, null)),
    peerName: "one by one",
  };
});

const LISTED = 100_000;

/** Looks an address up in a list of 100,000, beside a Set of the addresses as text, which has no blocks. */
export const rulesList = row("rules-list", `CPU µs for a look-up in ${LISTED} addresses`, 0.2, () => {
  const addresses = Array.from({ length: LISTED }, (_, i) => `${10 + (i % 200)}.${(i * 7) & 255}.${(i * 13) & 255}.${i & 255}`);
  const list = createIpList(addresses);
  const set = new Set(addresses);
  // A client's address is in the CPU cache when it is looked up; the list is not.
  const clients = addresses.filter((_, i) => i % 97 === 0).map((address, i) => (i % 2 === 0 ? address : `${address.slice(0, -1)}9`));
  let next = 0;
  const asked = (): string => clients[(next = (next + 1) % clients.length)] ?? "";
  return { ours: () => list.has(asked()), peer: () => set.has(asked()), peerName: "set of texts" };
});

/** Compiles a thousand custom rules with their dispatch. */
export const rulesCompile: Benchmark = {
  name: "rules-compile",
  unit: "CPU ms for 1000 custom rules",
  better: "lower",
  target: 100,
  tools: [],
  prepare: () =>
    Promise.resolve({
      ours: {
        name: "selvedge",
        run: () => {
          const started = process.cpuUsage();
          finish(creatingDispatch(MANY.map((text) => compileExpression(text, PHASE))));
          const { user, system } = process.cpuUsage(started);
          return Promise.resolve({ value: (user + system) / 1000 });
        },
      },
      peers: [],
      close: () => Promise.resolve(),
    }),
};
