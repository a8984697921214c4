import type { SpikeKind } from "#model/events/notification.ts";

/** The content of an alert, independent of its recipients. */
export interface Alert {
  /** One line. */
  readonly subject: string;
  readonly text: string;
  /** The same data for programs. */
  readonly data: Readonly<Record<string, string | number>>;
}

interface ZoneFacts {
  readonly id: string;
  readonly name: string;
}

export interface SpikeFacts {
  readonly kind: SpikeKind;
  readonly zone: ZoneFacts;
  /** Null if services are not distinguished. */
  readonly service: string | null;
  readonly count: number;
  readonly mean: number;
  readonly startMs: number;
  readonly endMs: number;
}

const NUMBER = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

const SUBJECTS: Readonly<Record<SpikeKind, string>> = {
  security_events: "Security events",
  edge_errors: "Edge errors",
  origin_errors: "Origin errors",
};

export function spikeAlert({ kind, zone, service, count, mean, startMs, endMs }: SpikeFacts): Alert {
  const what = service === null ? SUBJECTS[kind] : `${SUBJECTS[kind]} of ${service}`;
  const [start, end] = [new Date(startMs).toISOString(), new Date(endMs).toISOString()];
  const minutes = (endMs - startMs) / 60_000;
  return {
    subject: `${what} in ${zone.name}: ${NUMBER.format(count)} in ${minutes} minutes`,
    text: `${what} in ${zone.name} rose to ${NUMBER.format(count)} between ${start} and ${end}. The usual number at this hour is ${NUMBER.format(mean)} in ${minutes} minutes.`,
    data: {
      zone_id: zone.id,
      zone_name: zone.name,
      ...(service === null ? {} : { service }),
      events: count,
      usual_events: Math.round(mean * 10) / 10,
      start,
      end,
      // The same by the names that receivers of the vendor's alerts read.
      severity: "WARN",
      zone_tag: zone.id,
      events_count: count,
      alert_start_time: start,
      alert_end_time: end,
    },
  };
}

export const testAlert = (policyName: string): Alert => ({
  subject: `Test of the notification policy ${policyName}`,
  text: `This is a test of the notification policy ${policyName}. Nothing has happened.`,
  data: { test: "true" },
});

export interface CertificateFacts {
  readonly hosts: readonly string[];
  /** The authority's name; empty if none was chosen yet. */
  readonly authority: string;
}

const zoneData = ({ id, name }: ZoneFacts) => ({ zone_id: id, zone_name: name });

export const issuedAlert = (zone: ZoneFacts, { hosts, authority }: CertificateFacts, expires: string): Alert => ({
  subject: `Certificate of ${hosts[0] ?? zone.name} issued`,
  text: `${authority} has issued a certificate for ${hosts.join(", ")}, in use until ${expires}.`,
  data: { ...zoneData(zone), event: "issued", hosts: hosts.join(","), authority, expires },
});

/** `isOver`: the server does not try again. */
export const notIssuedAlert = (zone: ZoneFacts, { hosts, authority }: CertificateFacts, error: string, isOver: boolean): Alert => ({
  subject: `Certificate of ${hosts[0] ?? zone.name} not issued`,
  text: `No new certificate was issued for ${hosts.join(", ")}${error === "" ? "" : `: ${error}`}. ${isOver ? "The server will not try again." : "The server will try again."}`,
  data: { ...zoneData(zone), event: isOver ? "given_up" : "failing", hosts: hosts.join(","), authority, error },
});

/** `reason`: why the name no longer belongs to the zone; `status`: the zone's new status. */
export const movedAlert = (zone: ZoneFacts, reason: string, status: "moved" | "pending"): Alert => ({
  subject: status === "moved" ? `Zone ${zone.name} has moved` : `Zone ${zone.name} waits for a proof again`,
  text: `${reason} ${status === "moved" ? "The edge no longer serves the zone, and it is deleted after 7 days unless it is proved again." : "The zone is pending and is not served until it is proved again."} GET /zones/${zone.id} says how.`,
  data: { ...zoneData(zone), event: status, reason },
});

export interface DeprecationFacts {
  readonly id: string;
  readonly date: string;
  readonly replacement: string | null;
}

/** A caller by the name of its token, else by its identifier. */
export interface CallerFacts {
  readonly token_id: string;
  readonly token_name: string | null;
  readonly route: string;
  readonly calls: number;
}

const CALLERS_SHOWN_MAX = 20;

export function deprecationAlert({ id, date, replacement }: DeprecationFacts, daysLeft: number, callers: readonly CallerFacts[]): Alert {
  const days = daysLeft === 1 ? "1 day" : `${daysLeft} days`;
  const names = [...new Set(callers.map(({ token_name, token_id }) => token_name ?? token_id))];
  const shown = [
    ...names.slice(0, CALLERS_SHOWN_MAX),
    ...(names.length > CALLERS_SHOWN_MAX ? [`${names.length - CALLERS_SHOWN_MAX} more`] : []),
  ].join(", ");
  const routes = [...new Set(callers.map(({ route }) => route))].slice(0, CALLERS_SHOWN_MAX).join(", ");
  const calls = callers.reduce((sum, caller) => sum + caller.calls, 0);
  return {
    subject: `API: ${id} ends in ${days}`,
    text: `The deprecation ${id} takes effect on ${date}. In the last 30 days, ${NUMBER.format(calls)} calls depended on it, by ${shown}: ${routes}. ${replacement === null ? "It has no replacement." : `Use instead: ${replacement}.`} GET /deprecations/${id} describes it.`,
    data: { event: "ending", deprecation_id: id, ends: date, days_left: daysLeft, calls, tokens: shown, routes },
  };
}

export const primariesFailingAlert = (zone: ZoneFacts, reasons: readonly string[], isExpired: boolean): Alert => ({
  subject: isExpired ? `Zone ${zone.name} has expired` : `No primary of ${zone.name} responds`,
  text: `No primary of ${zone.name} responds: ${reasons.join("; ")}.${isExpired ? " The zone has expired; the nameserver no longer answers from it." : ""}`,
  data: { ...zoneData(zone), event: isExpired ? "expired" : "failing", reasons: reasons.join("; ") },
});

export const transferredAlert = (zone: ZoneFacts, primary: string, serial: number, changes: number): Alert => ({
  subject: `Zone ${zone.name} updated to serial ${serial}`,
  text: `${zone.name} was transferred from ${primary}: serial ${serial}, ${NUMBER.format(changes)} changes.`,
  data: { ...zoneData(zone), event: "updated", primary, serial, changes },
});
