import type { CookieAttributes, PageSighting } from "#kernel/process/page-sighting.ts";
import type { TunnelLink } from "#kernel/process/tunnel-link.ts";
import type { NodePlane } from "#model/access/node.ts";

/** A plane of a node asks control for something. Control may get it twice, and repeats nothing that it has done. */
export type NodeNotice =
  | { readonly kind: "notified"; readonly zone_id: string; readonly from: string }
  | { readonly kind: "readdressed"; readonly zone_id: string; readonly addresses: string }
  | { readonly kind: "default-gateway"; readonly account_id: string; readonly at_ms: number }
  | { readonly kind: "sighting"; readonly sighting: PageSighting };

/** The plane that has each kind: control ignores what a node without it sends. */
export const PLANE_OF_NOTICE: Readonly<Record<NodeNotice["kind"], NodePlane>> = {
  notified: "nameserver",
  readdressed: "nameserver",
  "default-gateway": "gateway",
  sighting: "edge",
};

/** A message on the subject of a node's reports: notices, which control answers, or all connections of tunnels at the node. */
export type NodeMessage = { readonly notices: readonly NodeNotice[] } | { readonly tunnels: readonly TunnelLink[] };

export interface NoticesAnswer {
  readonly taken?: true;
  readonly error?: string;
}

export const NOTICES_MAX = 200;
export const TUNNEL_LINKS_MAX = 10_000;
const TEXT_MAX = 4_096;
const NAME_MAX = 256;
const FEATURES_MAX = 20;

/** Null if it is another message or none of ours: a node may send anything. Wrong items are left out. */
export function readNodeMessage(data: Uint8Array): NodeMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString());
  } catch {
    return null;
  }
  const { notices, tunnels } = membersOf(value);
  if (Array.isArray(notices)) return { notices: notices.slice(0, NOTICES_MAX).flatMap((item) => noticeOf(membersOf(item)) ?? []) };
  if (Array.isArray(tunnels)) return { tunnels: tunnels.slice(0, TUNNEL_LINKS_MAX).flatMap((item) => linkOf(membersOf(item)) ?? []) };
  return null;
}

type Members = Readonly<Record<string, unknown>>;

const membersOf = (value: unknown): Members => (typeof value === "object" && value !== null ? (value as Members) : {});
const isText = (value: unknown, max = TEXT_MAX): value is string => typeof value === "string" && value.length <= max;
const isId = (value: unknown): value is string => isText(value, NAME_MAX) && value !== "";
const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function noticeOf(item: Members): NodeNotice | null {
  const { kind, zone_id, account_id, from, addresses, at_ms } = item;
  switch (kind) {
    case "notified":
      return isId(zone_id) && isText(from, NAME_MAX) ? { kind, zone_id, from } : null;
    case "readdressed":
      return isId(zone_id) && isText(addresses) ? { kind, zone_id, addresses } : null;
    case "default-gateway":
      return isId(account_id) && isTime(at_ms) ? { kind, account_id, at_ms } : null;
    case "sighting": {
      const sighting = sightingOf(membersOf(item["sighting"]));
      return sighting === null ? null : { kind, sighting };
    }
    default:
      return null;
  }
}

function sightingOf(item: Members): PageSighting | null {
  const { kind, zone_id, at_ms, host, page_url, url, name } = item;
  if (!isId(zone_id) || !isTime(at_ms) || !isText(host, NAME_MAX) || !isText(page_url)) return null;
  const seen = { zone_id, at_ms, host, page_url };
  if (kind === "cookie") return isText(name) ? { kind, ...seen, name, attributes: attributesOf(membersOf(item["attributes"])) } : null;
  return (kind === "script" || kind === "connection") && isText(url) ? { kind, ...seen, url } : null;
}

const SAME_SITES = ["lax", "strict", "none"] as const;

function attributesOf({ domain, path, expires, max_age, secure, http_only, same_site }: Members): CookieAttributes {
  const sameSite = SAME_SITES.find((value) => value === same_site);
  return {
    ...(isText(domain) ? { domain } : {}),
    ...(isText(path) ? { path } : {}),
    ...(isText(expires, NAME_MAX) ? { expires } : {}),
    ...(Number.isSafeInteger(max_age) ? { max_age: max_age as number } : {}),
    secure: secure === true,
    http_only: http_only === true,
    ...(sameSite === undefined ? {} : { same_site: sameSite }),
  };
}

const LINK_TEXTS = ["id", "tunnel_id", "connector_id", "version", "arch", "run_at", "opened_at", "address"] as const;

function linkOf(item: Members): TunnelLink | null {
  const { features, config_version, draining } = item;
  if (!LINK_TEXTS.every((name) => isText(item[name], NAME_MAX)) || !isTime(config_version)) return null;
  const texts = Object.fromEntries(LINK_TEXTS.map((name) => [name, item[name]])) as Record<(typeof LINK_TEXTS)[number], string>;
  const known = Array.isArray(features) ? features.slice(0, FEATURES_MAX).filter((feature) => isText(feature, NAME_MAX)) : [];
  return { ...texts, features: known, config_version, draining: draining === true };
}
