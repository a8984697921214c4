/** One line of a zone file; names absolute, with their final dot. */
export interface ZoneLine {
  readonly name: string;
  readonly ttl: number;
  readonly type: string;
  readonly content: string;
}

export interface TestZone {
  /** With its final dot. */
  readonly name: string;
  readonly lines: readonly ZoneLine[];
}

/** Numbers from 0 to below `bound`, the same ones for the same seed. */
export type Random = (bound: number) => number;

/** Mulberry32, which is enough to choose among zones. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)] as T;

/** Few labels, so that names collide: empty non-terminals, covered wildcards, names below cuts. Two contain bytes that are not letters. */
const LABELS = ["a", "b", "www", "Mail", "ns", "x-1", "_tcp", "*", "\\000\\255", "d\\.t", "*w"] as const;

/** SOA values of every zone of a test; peers get the same. */
export const SOA = { refresh: 10_000, retry: 2400, expire: 604_800, ttl: 3600, min_ttl: 1800 } as const;
export const NS_TTL = 86_400;
export const nameServersOf = (zone: string): readonly string[] => [`ns1.${zone}`, "ns2.provider.example."];

interface Draft {
  readonly zone: string;
  readonly random: Random;
  readonly lines: Map<string, ZoneLine>;
  readonly kinds: Map<string, Kind>;
  /** Names at which answers end: targets are drawn from them as well. */
  readonly elsewhere: readonly string[];
}

/** Purpose of a name; determines the records that it may have. */
type Kind = "data" | "alias" | "redirect" | "cut" | "wildcard";

/**
 * A zone with all features that affect answers. No name below a DNAME (RFC 6672 §2.4), and no zone cut or DNAME at a
 * wildcard, because their meaning is undefined (RFC 4592 §4.2, §4.4). `elsewhere`: names outside the zone.
 */
export function randomZone(random: Random, zone: string, names: number, elsewhere: readonly string[]): TestZone {
  const draft: Draft = { zone, random, lines: new Map(), kinds: new Map([[zone, "data"]]), elsewhere };
  for (let i = 0; i < names; i++) {
    const labels = Array.from({ length: 1 + random(3) }, () => pick(random, LABELS));
    placeName(draft, labels);
  }
  for (const [name, kind] of draft.kinds) FILL[kind](draft, name);
  put(draft, `ns1.${zone}`, "A", "192.0.2.53");
  return { name: zone, lines: [...draft.lines.values()] };
}

function placeName({ zone, random, kinds }: Draft, labels: readonly string[]): void {
  const name = `${labels.join(".")}.${zone}`;
  const above = labels.map((_, i) => `${labels.slice(i + 1).join(".")}${i + 1 < labels.length ? "." : ""}${zone}`);
  if (kinds.has(name) || above.some((parent) => kinds.get(parent) === "redirect")) return;
  const plain = !labels.includes("*");
  const hasChildren = [...kinds.keys()].some((other) => other.endsWith(`.${name}`));
  const reserved = name === `ns1.${zone}` || name.toLowerCase() !== name;
  const kind = plain
    ? pick(random, ["data", "data", "data", "data", "alias", "alias", "redirect", "cut"] as const)
    : (["wildcard", "alias"] as const)[random(2)];
  kinds.set(name, (kind === "redirect" && hasChildren) || reserved ? "data" : (kind as Kind));
}

const FILL: Readonly<Record<Kind, (draft: Draft, name: string) => void>> = {
  data: fillData,
  wildcard: fillData,
  alias: (draft, name) => put(draft, name, "CNAME", target(draft)),
  redirect: (draft, name) => {
    put(draft, name, "DNAME", target(draft));
    if (draft.random(2) === 0) put(draft, name, "TXT", '"beside a DNAME"');
  },
  cut: fillCut,
};

function fillData(draft: Draft, name: string): void {
  const { random } = draft;
  if (random(2) === 0) put(draft, name, "A", address(draft));
  for (let i = 1 + random(4); i > 0; i--) {
    const [type, content] = pick(random, DATA);
    put(draft, name, type, content(draft));
  }
}

/** A delegation: name servers below the cut with glue, beside it, and outside the zone. */
function fillCut(draft: Draft, name: string): void {
  const { random } = draft;
  for (let i = 1 + random(3); i > 0; i--) {
    const server = pick(random, [`ns.${name}`, `deep.ns.${name}`, name, target(draft)]);
    put(draft, name, "NS", server);
    if (!server.endsWith(name)) continue;
    if (random(4) > 0) put(draft, server, "A", address(draft));
    if (random(2) > 0) put(draft, server, "AAAA", address6(draft));
  }
  if (random(2) === 0) put(draft, name, "DS", `${random(65_536)} 13 2 ${"0".repeat(62)}${10 + random(90)}`);
}

const address = ({ random }: Draft): string => `192.0.2.${random(250)}`;
const address6 = ({ random }: Draft): string => `2001:db8::${random(9000)}`;

/** An existing name, one that a wildcard or DNAME may cover, one that is not there, or one outside. */
function target(draft: Draft): string {
  const { random, kinds, elsewhere, zone } = draft;
  const known = pick(random, [...kinds.keys()]);
  return pick(random, [known, known, known, `q.${known}`, `a.b.${known}`, `missing.${zone}`, pick(random, elsewhere)]);
}

const DATA: readonly (readonly [type: string, content: (draft: Draft) => string])[] = [
  ["A", address],
  ["A", address],
  ["AAAA", address6],
  ["TXT", ({ random }) => `"text ${random(9)}" "Second; string"`],
  ["MX", (draft) => `${draft.random(30)} ${target(draft)}`],
  ["SRV", (draft) => `1 2 ${draft.random(65_536)} ${target(draft)}`],
  ["SVCB", (draft) => `${1 + draft.random(3)} ${pick(draft.random, [".", target(draft)])} alpn=h2 port=8443`],
  ["HTTPS", (draft) => `1 ${pick(draft.random, [".", target(draft)])} alpn="h2,h3" ipv4hint=192.0.2.7`],
  ["HTTPS", (draft) => `0 ${target(draft)}`],
  ["CAA", () => '0 issue "ca.example"'],
  ["PTR", target],
  ["TLSA", ({ random }) => `3 1 1 ${"ab".repeat(31)}${10 + random(90)}`],
  ["URI", ({ random }) => `1 ${random(9)} "https://example/"`],
  ["LOC", () => "52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000m 10m"],
  ["TYPE65280", ({ random }) => `\\# 3 0000${10 + random(90)}`],
];

const TTLS = [60, 300, 3600] as const;

/** A record once, with the TTL of its RRset (RFC 2181 §5.2), and one record if the type allows only one. */
function put({ lines, random, kinds }: Draft, name: string, type: string, content: string): void {
  const sibling = [...lines.values()].find((line) => line.name.toLowerCase() === name.toLowerCase() && line.type === type);
  if (sibling && (type === "CNAME" || type === "DNAME")) return;
  if (["A", "AAAA"].includes(type) && kinds.get(name) === "alias") return;
  // Aliases of HTTPS and SVCB mode do not mix (RFC 9460 §2.4.1).
  if (sibling && (type === "HTTPS" || type === "SVCB")) return;
  const line = { name, ttl: sibling?.ttl ?? pick(random, TTLS), type, content };
  lines.set(`${name.toLowerCase()} ${type} ${content.toLowerCase()}`, line);
}

/** The zone as a master file, its SOA and NS records first. */
export function zoneText({ name, lines }: TestZone, serial: number): string {
  const soa = `${name} ${SOA.ttl} IN SOA ns1.${name} dns.${name} ${serial} ${SOA.refresh} ${SOA.retry} ${SOA.expire} ${SOA.min_ttl}`;
  const servers = nameServersOf(name).map((server) => `${name} ${NS_TTL} IN NS ${server}`);
  const records = lines.map((line) => `${line.name} ${line.ttl} IN ${line.type} ${line.content}`);
  return [soa, ...servers, ...records, ""].join("\n");
}
