import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { type Answer as DnsAnswer, decode, encode } from "dns-packet";
import { type ApiCall, apiCaller, succeed } from "../support/api.ts";
import { startSelvedge, type Selvedge } from "../support/selvedge.ts";
import { PATIENCE_MS } from "../support/eventually.ts";

const SWAPS = 100;
const ZONE = "swap.example";

let selvedge: Selvedge;
let call: ApiCall;

before(async () => {
  selvedge = await startSelvedge({ env: { SELVEDGE_API_RATE_LIMIT_REQUESTS: "0", SELVEDGE_DNS_RATE_LIMIT_PER_SECOND: "0" } });
  call = apiCaller(selvedge.ready);
});
after(() => selvedge?.stop());

/** Asks for A of both names, and gives each whole answer as text. */
async function asker(): Promise<{ ask(name: string): Promise<string>; close(): void }> {
  const socket = createSocket("udp4");
  socket.connect(Number(selvedge.ready.dns.split(":")[1]), "127.0.0.1");
  await once(socket, "connect");
  const show = (answer: DnsAnswer): string => `${answer.name.split(".")[0]} ${answer.type} ${"data" in answer ? String(answer.data) : ""}`;
  return {
    ask: async (name) => {
      socket.send(encode({ type: "query", id: 1, questions: [{ type: "A", name: `${name}.${ZONE}` }] }));
      const [message] = (await once(socket, "message", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [Buffer];
      const { answers = [], flags = 0 } = decode(message);
      return [`rcode ${flags & 15}`, ...answers.map(show)].join(", ");
    },
    close: () => socket.close(),
  };
}

// Each answer has the address behind the alias, so that it is made of both names: one that saw half a batch would be a
// dangling alias, a loop, or nothing.
const STATES = [
  { one: "rcode 0, one A 192.0.2.1", two: "rcode 0, two A 192.0.2.1" },
  { one: "rcode 0, one A 192.0.2.2", two: "rcode 0, two A 192.0.2.2" },
] as const;
const RECORDS = [
  [
    { type: "CNAME", name: "one", content: `two.${ZONE}` },
    { type: "A", name: "two", content: "192.0.2.1" },
  ],
  [
    { type: "A", name: "one", content: "192.0.2.2" },
    { type: "CNAME", name: "two", content: `one.${ZONE}` },
  ],
] as const;

test("the nameserver never serves half of a batch, and serves all of it once the API has responded", async (t) => {
  const zone = await succeed(call("POST", "/zones", { name: ZONE, account: { id: selvedge.ready.account_id }, type: "full" }));
  const batch = (body: object): Promise<any> => succeed(call("POST", `/zones/${zone.id}/dns_records/batch`, body));
  const dns = await asker();
  const background = await asker();
  t.after(() => (dns.close(), background.close()));
  let posted = (await batch({ posts: RECORDS[0] })).posts as { id: string }[];
  const seen = new Map<string, number>();
  let hammering = true;
  const hammer = (async () => {
    while (hammering) {
      for (const name of ["one", "two"] as const) {
        const answer = await background.ask(name);
        seen.set(answer, (seen.get(answer) ?? 0) + 1);
      }
    }
  })();
  for (let swap = 1; swap <= SWAPS; swap++) {
    const state = swap % 2 === 0 ? 0 : 1;
    posted = (await batch({ deletes: posted.map(({ id }) => ({ id })), posts: RECORDS[state] })).posts;
    for (const name of ["one", "two"] as const) assert.equal(await dns.ask(name), STATES[state][name], `after swap ${swap}`);
  }
  hammering = false;
  await hammer;
  assert.deepEqual([...seen.keys()].sort(), STATES.flatMap((state) => Object.values(state)).sort());
  t.diagnostic(`${[...seen.values()].reduce((sum, count) => sum + count, 0)} answers during ${SWAPS} swaps`);
});
