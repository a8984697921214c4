import { createHash } from "node:crypto";
import { systemCall } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { chosenIn } from "#control/open-zone/setting-views.ts";
import { isPageShieldOn } from "#control/previous-waf/entries.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import type { PageSighting } from "#kernel/process/page-sighting.ts";
import type { TextMasker } from "#rules/detectors/masking/text-masker.ts";
import type { Store, Unit } from "#store/database/store.ts";
import {
  countPageResources,
  deleteOldestPageResources,
  deletePageResourcesBefore,
  insertPageResource,
  pageResource,
  updatePageResource,
} from "#store/page-shield/page-resources.ts";
import { zoneRowById } from "#store/zones/zones.ts";

/** Keeps what the edge has seen pages load and set. */
export interface SeenResources {
  /** Takes what a thread of the edge has seen. Zones without Page Shield are ignored. */
  note(sightings: readonly PageSighting[]): Promise<void>;
  /** Deletes what no page has had for 90 days. */
  forget(): Promise<void>;
}

/** Of a kind in a zone. Anybody can make up reports, so the ones that were seen the longest ago make room. */
const RESOURCES_MAX = 5_000;
const PAGES_MAX = 10;
const KEPT_MS = 90 * 86_400_000;

export function createSeenResources({ store, clock }: { readonly store: Store; readonly clock: Clock }): SeenResources {
  return {
    note: async (sightings) => {
      for (const [zoneId, of] of Map.groupBy(sightings, ({ zone_id }) => zone_id))
        await commit({ store }, systemCall("page-shield"), async (unit) => {
          const zone = await zoneRowById(unit.db, zoneId);
          if (zone === undefined || !isPageShieldOn(zone)) return;
          const mask = chosenIn(zone).log_masking?.value === "off" ? undefined : await maskerOfUrls();
          for (const sighting of of) await keep(unit, masked(sighting, mask));
          for (const kind of new Set(of.map((sighting) => sighting.kind))) {
            const count = await countPageResources(unit.db, zoneId, kind);
            if (count > RESOURCES_MAX) await deleteOldestPageResources(unit.db, zoneId, kind, count - RESOURCES_MAX);
          }
        });
    },
    forget: () => {
      const before = isoMicros(clock.nowMicros() - KEPT_MS * 1000);
      return commit({ store }, systemCall("page-shield"), (unit) => deletePageResourcesBefore(unit.db, before));
    },
  };
}

/** Loaded for the first sighting, because an idle server never needs the detectors. */
const maskerOfUrls = async (): Promise<TextMasker> =>
  (undoubted ??= (await import("#rules/detectors/masking/text-masker.ts")).createUndoubtedMasker());
let undoubted: TextMasker | undefined;

/** Paths may contain sensitive data, as in rows of requests. */
function masked(sighting: PageSighting, mask: TextMasker | undefined): PageSighting {
  if (mask === undefined) return sighting;
  const shown = (text: string): string => {
    const url = URL.parse(text);
    if (url === null) return text;
    const [path = ""] = mask([url.pathname], "/");
    return `${url.protocol}//${url.host}${path}`;
  };
  const page_url = shown(sighting.page_url);
  return sighting.kind === "cookie" ? { ...sighting, page_url } : { ...sighting, page_url, url: shown(sighting.url) };
}

async function keep({ db }: Unit, sighting: PageSighting): Promise<void> {
  const { zone_id, kind, host, page_url, at_ms } = sighting;
  const at = isoMicros(at_ms * 1000);
  const name = kind === "cookie" ? sighting.name : sighting.url;
  const attributes = JSON.stringify(kind === "cookie" ? sighting.attributes : {});
  const id = createHash("sha256")
    .update(JSON.stringify([zone_id, kind, host, name]))
    .digest("hex")
    .slice(0, 32);
  const known = await pageResource(db, zone_id, id);
  if (known === undefined)
    return insertPageResource(db, {
      ...{ zone_id, id, kind, name, host, first_page_url: page_url, page_urls: JSON.stringify([page_url]), attributes, versions: "[]" },
      ...{ first_seen_at: at, last_seen_at: at },
      fetch_due_ms: kind === "script" ? at_ms : null,
      untold: kind === "cookie" ? null : "new",
    });
  const pages = (JSON.parse(known.page_urls) as readonly string[]).filter((page) => page !== page_url);
  await updatePageResource(db, known, {
    last_seen_at: at > known.last_seen_at ? at : known.last_seen_at,
    page_urls: JSON.stringify([page_url, ...pages].slice(0, PAGES_MAX)),
    attributes,
  });
}
