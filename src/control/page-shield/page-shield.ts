import type { Call } from "#control/call.ts";
import { chosenIn } from "#control/open-zone/setting-views.ts";
import type { OutboundAddressAllowed } from "#control/outbound.ts";
import type { FirewallOwner } from "#control/previous-waf/firewall-edit.ts";
import type { ZoneSettings } from "#control/zones/settings.ts";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { PAGE_SHIELD_OFF, type PageShieldSettings, type PageShieldUpdate } from "#model/zones/page-shield.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { createFetchScripts, type FetchScripts } from "./fetch-scripts.ts";
import { createPageNews, type PageNews } from "./page-news.ts";
import { createPagePolicies, type PagePolicies } from "./page-policies.ts";
import { createResourceLists, type ResourceLists } from "./resource-lists.ts";
import { createSeenResources, type SeenResources } from "./seen-resources.ts";

/** Page Shield of a zone: settings, lists, policies, and the work behind them. */
export interface PageShieldControl extends ResourceLists, SeenResources {
  settings(zoneId: string): Promise<PageShieldSettings>;
  update(call: Call, zone: FirewallOwner, change: PageShieldUpdate): Promise<PageShieldSettings>;
  readonly policies: PagePolicies;
  readonly fetchScripts: FetchScripts;
  readonly news: PageNews;
}

interface Deps {
  readonly store: Store;
  readonly clock: Clock;
  readonly zoneSettings: Pick<ZoneSettings, "edit">;
  /** Whether scripts may be fetched from the address. */
  readonly allowed: OutboundAddressAllowed;
}

const SETTING = "page_shield";

export function createPageShieldControl(deps: Deps): PageShieldControl {
  const { store, zoneSettings } = deps;
  const settings = async (zoneId: string): Promise<PageShieldSettings> => {
    const zone = await zoneRowById(store.read, zoneId);
    if (zone === undefined) throw new PlatformError("zone_not_found");
    const chosen = chosenIn(zone)[SETTING];
    return { ...(chosen?.value ?? PAGE_SHIELD_OFF), updated_at: chosen?.modified_on ?? zone.created_on };
  };
  return {
    settings,
    update: async (call, zone, change) => {
      const { updated_at: _, ...before } = await settings(zone.id);
      await zoneSettings.edit(call, zone.id, [{ id: SETTING, value: { ...before, ...change }, pointer: "" }]);
      return settings(zone.id);
    },
    ...createResourceLists(deps),
    ...createSeenResources(deps),
    policies: createPagePolicies(deps),
    fetchScripts: createFetchScripts(deps),
    news: createPageNews(deps),
  };
}
