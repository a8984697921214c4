import { hasNoParent } from "#model/zones/zone-name.ts";
import type { ZoneRow } from "#store/zones/zones.ts";

/** Names of the TXT record that proves the zone: with our prefix, and the one that clients already know. */
export const verificationNames = (zoneName: string, vendorPrefix: string): readonly string[] => [
  `_${vendorPrefix}-verify.${zoneName}`,
  `cloudflare-verify.${zoneName}`,
];

/** The proofs that a zone which is not active waits for, as text for its owner; reveals nothing about zones of other accounts. */
export function pendingReason(zone: Pick<ZoneRow, "status" | "name" | "type" | "pair" | "verification_key">, vendorPrefix: string): string {
  const pair = JSON.parse(zone.pair) as string[];
  const servers = pair.join(" and ");
  const consent = pair.length === 0 ? [] : [`its parent zone, if this installation serves it, delegates it to ${servers}`];
  const ways = hasNoParent(zone.name)
    ? [...consent, "the operator confirms it (selvedge zone prove)"]
    : [
        ...(pair.length === 0 || zone.type === "partial" ? [] : [`its registrar names ${servers} as its name servers`]),
        `a TXT record at ${verificationNames(zone.name, vendorPrefix)[0]} has the zone's verification_key`,
        "its parent has the DS record of the zone's own key",
      ];
  const list = ways.length === 1 ? ways[0] : `${ways.slice(0, -1).join(", ")}, or ${ways.at(-1)}`;
  const noPair =
    pair.length === 0 && !hasNoParent(zone.name)
      ? " Its parent already names its name servers, or other zones have them, so naming them would prove nothing."
      : "";
  if (zone.status === "moved")
    return `${zone.name} has moved: its parent names other name servers, or another account has proved the name. The edge does not serve it, and it is deleted after 7 days unless ${list}.${noPair}`;
  return `${zone.name} is pending until ${list}.${noPair}`;
}
