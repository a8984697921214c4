import { PlatformError } from "#kernel/errors/errors.ts";
import { isWithin } from "#kernel/net/hostname.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { CachePurge, CachePurged } from "#model/zones/cache-purge.ts";
import type { PurgeEntry, PurgeSelector } from "#snapshot/entries.ts";
import { purgesOfZone, putPurges } from "#store/zones/cache-purges.ts";
import { servedHostnames } from "#store/hostnames/custom-hostnames.ts";
import type { Store } from "#store/database/store.ts";
import { lockZone } from "#store/zones/zones.ts";

export interface CachePurges {
  /** Removes responses of the zone from the edge's cache. Resolves when every edge has done so. Throws `purge_invalid`. */
  purge(call: Call, zone: PlannedZoneRef, body: CachePurge): Promise<CachePurged>;
}

/** Recent selectors stored with a zone, so that an edge that was offline need not drop the zone's whole cache. */
const KEPT_MAX = 200;
/** Limits per call and member, and for files on the largest plan (limits of the vendor's API). */
const LISTED_MAX = 100;
const FILES_OF_ENTERPRISE_MAX = 500;

export function createCachePurges(deps: { readonly store: Store }): CachePurges {
  return {
    purge: async (call, zone, body) => {
      const others = new Set<string>();
      // A first pass collects hostnames outside the zone, which may be custom hostnames.
      selectorOf(zone, body, (host) => isWithin(host, zone.name) || others.add(host) !== undefined);
      const served = others.size === 0 ? others : await servedHostnames(deps.store.read, zone.id, others);
      const selector = selectorOf(zone, body, (host) => isWithin(host, zone.name) || served.has(host));
      return commit(deps, call, async (unit) => {
        await lockZone(unit.db, zone.id);
        const row = await purgesOfZone(unit.db, zone.id);
        const before: PurgeEntry = row ? (JSON.parse(row.value) as PurgeEntry) : { count: 0, recent: [] };
        // Without selectors, everything before this purge counts as purged.
        const recent = selector === null ? [] : keptOf([...before.recent, selector]);
        const entry: PurgeEntry = { count: before.count + 1, recent };
        await putPurges(unit.db, { zone_id: zone.id, value: JSON.stringify(entry) });
        unit.change({ kind: "purge", id: zone.id, value: entry });
        unit.audit({
          action: "zone.purge_cache",
          actor: auditActor(call),
          account_id: zone.account_id,
          zone_id: zone.id,
          resource: { type: "zone", id: zone.id },
          after: selector ?? { purge_everything: true },
        });
        return { id: zone.id };
      });
    },
  };
}

/** The newest selectors whose lists together do not exceed the limit. */
function keptOf(selectors: readonly PurgeSelector[]): readonly PurgeSelector[] {
  let listed = 0;
  const first = selectors.findLastIndex((selector) => (listed += selector.values.length) > KEPT_MAX);
  // The last one always stays: it is the current purge.
  return selectors.slice(Math.min(first + 1, selectors.length - 1));
}

type Serves = (host: string) => boolean;

/** Null for everything. */
function selectorOf(zone: PlannedZoneRef, body: CachePurge, serves: Serves): PurgeSelector | null {
  // Clients that fill in every field send false beside the files that they name.
  const given = (["purge_everything", "files", "tags", "hosts", "prefixes"] as const).filter((name) => (body[name] ?? false) !== false);
  const [name, ...others] = given;
  if (name === undefined) throw new PlatformError("purge_invalid");
  if (others.length > 0)
    throw new PlatformError("purge_invalid", {
      message: `Request must contain only one of ${given.map((each) => JSON.stringify(each)).join(", ")}; send one request for each.`,
    });
  if (name === "purge_everything") return null;
  const texts = (body[name] ?? []).map((value) => (typeof value === "string" ? value : value.url));
  const most = name === "files" && zone.plan === "enterprise" ? FILES_OF_ENTERPRISE_MAX : LISTED_MAX;
  if (texts.length > most) throw invalid(`at most ${most} ${name} can be purged in one request`, `/${name}`);
  return { by: name, values: texts.map((text, index) => READERS[name](text, serves) ?? refuse(name, index, text, zone.name)) };
}

/** Parsers by kind; null if the text is invalid, or the zone does not serve it. */
const READERS: Readonly<Record<PurgeSelector["by"], (text: string, serves: Serves) => string | null>> = {
  files: (text, serves) => {
    // linear: pumped
    const match = /^(https?):\/\/([^/?#]+)([^?#]*)(\?[^#]*)?/i.exec(text);
    const url = match && URL.parse(`${match[1]}://${match[2]}`);
    if (!match || !url || url.username !== "" || url.password !== "" || !serves(url.hostname)) return null;
    // The path exactly as written, because cached responses are distinguished by the visitor's spelling.
    return `${url.protocol}//${url.host}${inAscii(match[3] || "/")}${inAscii(match[4] ?? "")}`;
  },
  // linear: pumped
  tags: (text) => (/^[\x21-\x2b\x2d-\x7e]{1,1024}$/.test(text) ? text.toLowerCase() : null),
  hosts: hostOf,
  prefixes: (text, serves) => {
    const slash = text.indexOf("/");
    const host = hostOf(slash < 0 ? text : text.slice(0, slash), serves);
    return host === null || /[?#]/.test(text) ? null : `${host}${slash < 0 ? "/" : inAscii(text.slice(slash))}`;
  },
};

/** The edge knows targets in this form. */
const inAscii = (text: string): string => text.toWellFormed().replace(/[^\0-\x7f]+/g, encodeURIComponent);

function hostOf(text: string, serves: Serves): string | null {
  const url = /^[^/?#@:\\]+$/.test(text) ? URL.parse(`http://${text}`) : null;
  return url !== null && serves(url.hostname) ? url.hostname : null;
}

function refuse(name: string, index: number, text: string, zoneName: string): never {
  throw invalid(`'${text.slice(0, 200)}' is not one of the ${name} of ${zoneName}`, `/${name}/${index}`);
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("purge_invalid", { message, source });
