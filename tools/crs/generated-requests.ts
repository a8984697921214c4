import { generatedAttacks, KINDS } from "#rules/managed/testing/generated-attacks.ts";
import { generatedBenign } from "#rules/managed/testing/generated-benign.ts";
import type { RequestChanges } from "#rules/managed/testing/managed-request.ts";
import { WRITTEN_CLASSES, writtenRequests } from "#rules/managed/testing/written-requests.ts";
import type { StageInput } from "./regression-tests.ts";

/** `count` requests, attacks and honest ones, the same ones for the same seed. */
export function generatedRequests(count: number, seed: number): readonly StageInput[] {
  const written = [...WRITTEN_CLASSES, "benign"].flatMap((list) => writtenRequests(list).map(({ request }) => request));
  const each = Math.ceil(count / 4 / Object.keys(KINDS).length);
  const attacks = (Object.keys(KINDS) as (keyof typeof KINDS)[]).flatMap((kind) =>
    generatedAttacks(kind, each, seed).map(({ request }) => request),
  );
  const benign = generatedBenign(Math.ceil(count / 4), seed);
  const left = Math.max(0, count - attacks.length - benign.length);
  const some = Array.from(
    { length: Math.min(left, written.length) },
    (_, i) => written[Math.floor((i * written.length) / Math.min(left, written.length))]!,
  );
  return [...attacks, ...benign, ...some].map(inputOf);
}

/** With the fields that every browser sends. */
function inputOf({ path = "/a/b.html", query = "", headers = {}, body = "" }: RequestChanges): StageInput {
  const sent: (readonly [string, string])[] = Object.entries(headers).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  );
  const add = (name: string, value: string): void => {
    if (!sent.some(([known]) => known.toLowerCase() === name.toLowerCase())) sent.unshift([name, value]);
  };
  add("Accept", "*/*");
  add("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0");
  add("Host", "www.example.com");
  if (body !== "") add("Content-Length", String(body.length));
  const uri = query === "" ? path : `${path}?${query}`;
  return {
    method: body === "" ? "GET" : "POST",
    uri,
    version: "HTTP/1.1",
    headers: sent,
    data: body,
    completesHeaders: false,
    encoded: "",
  };
}

const WORDS = "the lamp stands on the desk and it is bright enough to read by at night ";

/** Benign requests of three sizes, different ones each, like those of the benchmark `rules-managed`. */
export function costRequests(): Readonly<Record<string, { readonly requests: readonly StageInput[]; readonly rounds: number }>> {
  const many = (count: number, of: (i: number) => RequestChanges): readonly StageInput[] =>
    Array.from({ length: count }, (_, i) => inputOf(of(i)));
  const posted = (type: string, body: string): RequestChanges => ({ headers: { "content-type": [type] }, body });
  const item = (i: number, n: number): object => ({
    sku: `sku-${i}-${n}`,
    title: "A lamp for the desk, in brass & glass",
    price: 12.5,
    note: "Ring twice; it's loud",
  });
  const form = (i: number): string =>
    Array.from({ length: 100 }, (_, n) => `field${n}=${i}+${WORDS.repeat(14).replaceAll(" ", "+")}`).join("&");
  return {
    GET: {
      requests: many(64, (i) => ({ path: `/shop/item/${i}/brass-lamp`, query: `page=${i}&sort=-date&q=a+lamp+for+O%27Brien` })),
      rounds: 30,
    },
    "JSON of 2 KB": {
      requests: many(16, (i) =>
        posted("application/json", JSON.stringify({ id: i, items: Array.from({ length: 16 }, (_, n) => item(i, n)) })),
      ),
      rounds: 15,
    },
    "form of 100 KB": { requests: many(2, (i) => posted("application/x-www-form-urlencoded", form(i))), rounds: 5 },
  };
}
