import { type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { PageShieldScript, PageShieldSettings, PageShieldUpdate } from "#model/zones/page-shield.ts";

const OFF = { enabled: false, use_cloudflare_reporting_endpoint: false, use_connection_url_path: false } as const;
const READ = ["Zone Settings Read", "Zone Settings Write"] as const;
const WRITE = ["Zone Settings Write"] as const;

/** Throws `setting_unavailable` for any enabled setting: bodies of pages are not scanned for scripts. */
function checkOff(body: PageShieldUpdate): void {
  const on = Object.entries(body).find(([, value]) => value === true);
  if (on !== undefined)
    throw new PlatformError("setting_unavailable", { message: "Monitoring scripts of pages is not supported.", source: `/${on[0]}` });
}

const routesUnder = (segment: "page_shield" | "script_monitor"): readonly Route[] => {
  const path = `/zones/:zone_id/${segment}` as const;
  const id = segment.replace("_", "-");
  return [
    route({
      method: "GET",
      scope: "zone",
      permissions: READ,
      path,
      id: `${id}-get`,
      summary: "Show whether scripts of pages are monitored",
      result: PageShieldSettings,
      paging: "one",
      handler: async ({ control, params }) => ({ ...OFF, updated_at: (await control.zones.get(params.zone_id)).created_on }),
    }),
    route({
      method: "PUT",
      scope: "zone",
      permissions: WRITE,
      path,
      id: `${id}-update`,
      summary: "Update script monitoring; it can only stay off",
      body: PageShieldUpdate,
      result: PageShieldSettings,
      paging: "one",
      handler: async ({ control, params, body }) => {
        checkOff(body);
        return { ...OFF, updated_at: (await control.zones.get(params.zone_id)).created_on };
      },
    }),
    route({
      method: "GET",
      scope: "zone",
      permissions: READ,
      path: `${path}/scripts`,
      id: `${id}-scripts-list`,
      summary: "List detected scripts: always none",
      result: PageShieldScript,
      paging: "page",
      per_page: { default: 15, max: 100 },
      handler: async ({ page }) => ({ items: [], ...page, total_count: 0 }),
    }),
    route({
      method: "GET",
      scope: "zone",
      permissions: READ,
      path: `${path}/scripts/:script_id`,
      id: `${id}-scripts-get`,
      summary: "Show a detected script",
      result: PageShieldScript,
      paging: "one",
      handler: async () => {
        throw new PlatformError("not_found", { message: "No script has this identifier." });
      },
    }),
  ];
};

/** Page Shield, also under its name until 2022-10-11 (SPEC 9). */
export const PAGE_SHIELD_ROUTES: readonly Route[] = [...routesUnder("page_shield"), ...routesUnder("script_monitor")];
