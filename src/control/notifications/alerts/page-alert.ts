import type { Alert } from "./alert.ts";

const WORDS = {
  scriptmonitor_alert_new_hosts: { one: "a new host", many: "new hosts", event: "new_hosts" },
  scriptmonitor_alert_new_resources: { one: "a new script", many: "new scripts", event: "new_scripts" },
  scriptmonitor_alert_new_code_change_detections: { one: "a changed script", many: "changed scripts", event: "changed_scripts" },
} as const;

/** Types of alerts about what pages load. */
export type PageAlertName = keyof typeof WORDS;

const SHOWN_MAX = 20;

/** `items`: hosts, or URLs of scripts; not empty. */
export function pageAlert(zone: { readonly id: string; readonly name: string }, type: PageAlertName, items: readonly string[]): Alert {
  const { one, many, event } = WORDS[type];
  const shown = [...items.slice(0, SHOWN_MAX), ...(items.length > SHOWN_MAX ? [`${items.length - SHOWN_MAX} more`] : [])].join(", ");
  return {
    subject: `Pages of ${zone.name} load ${items.length === 1 ? one : `${items.length} ${many}`}`,
    text: `Visitors' browsers report ${items.length === 1 ? one : many} on pages of ${zone.name}: ${shown}. GET /zones/${zone.id}/page_shield/scripts lists them with their pages.`,
    data: { event, zone_id: zone.id, zone_name: zone.name, count: items.length, items: shown },
  };
}
