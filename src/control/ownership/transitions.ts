import type { LocalCa } from "#acme/local-ca.ts";
import type { Call } from "#control/call.ts";
import type { CertificateOrdering } from "#control/certificates/create.ts";
import { auditActor } from "#control/commit.ts";
import { addCertificate, issueZoneCertificate } from "#control/certificates/zone-certificate.ts";
import { movedAlert } from "#control/notifications/alerts/alert.ts";
import { enqueueAlert } from "#control/notifications/policies/enqueue-alert.ts";
import { openZone, writeZone } from "#control/open-zone/change-zone.ts";
import { removeZone } from "./remove-zone.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { hasNoParent } from "#model/zones/zone-name.ts";
import type { ZoneProof } from "#model/zones/zone-proof.ts";
import { type ZoneEvent, zoneStateAfter } from "#model/zones/zone-states.ts";
import type { ZoneStatus } from "#model/zones/zone.ts";
import { certificatesOfZone } from "#store/certificates/certificates.ts";
import { checkPendingNow } from "#store/hostnames/custom-hostnames.ts";
import { updateIncomingState } from "#store/dns/incoming-transfers.ts";
import { formerZones } from "#store/zones/former-zones.ts";
import type { Unit } from "#store/database/store.ts";
import { deleteClaim, putClaim } from "#store/zones/zone-claims.ts";
import { zonesOfName } from "#store/zones/zone-claimants.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { latestSerial, serialAfter } from "#wire/dns/serial.ts";
import { newClaim } from "./new-claim.ts";

export interface TransitionDeps {
  readonly clock: Clock;
  /** Null outside of a server; then the server issues the certificate at its next check. */
  readonly issuing: Issuing | null;
}

export interface Issuing {
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Null if the installation has no local authority. */
  readonly ca: LocalCa | null;
  readonly ordering: Pick<CertificateOrdering, "orderForZone">;
}

export interface WhatHappened {
  readonly kind: ZoneEvent;
  readonly proof: ZoneProof;
  /**
   * Another account proved the name although the parent may delegate to this zone's servers, so that a delegation to them
   * proves nothing any more.
   */
  readonly losesPair?: boolean;
}

/** Applies an event to a zone, with the consequences for other zones of its name. The unit must have locked the zone. */
export async function carryOut(deps: TransitionDeps, unit: Unit, call: Call, zone: ZoneRow, event: WhatHappened): Promise<string> {
  const next = zoneStateAfter(zone.status as ZoneStatus, event.kind);
  if (next === "gone") await removeZone(unit, zone.id, deps.clock.nowMicros());
  else if (event.kind === "proved") await activate(deps, unit, call, zone, event.proof);
  else await stepBack(deps, unit, zone, next, event);
  if (zone.status === "active" && (next === "moved" || next === "pending")) {
    const reason = reasonOf(zone, event);
    await enqueueAlert(unit, deps.clock.nowMs(), "zone_moved", zone.id, (row) => movedAlert(row, reason, next));
  }
  unit.audit({
    action: `zone.${ACTIONS[event.kind]}`,
    actor: auditActor(call),
    account_id: zone.account_id,
    zone_id: zone.id,
    resource: { type: "zone", id: zone.id },
    before: { name: zone.name, status: zone.status, proof: zone.proof },
    after: next === "gone" ? null : { name: zone.name, status: next, proof: event.proof },
  });
  return `${zone.name}: ${zone.status} → ${next}${event.proof === "none" ? "" : ` (${event.proof})`}`;
}

const ACTIONS: Readonly<Record<ZoneEvent, string>> = { proved: "activate", superseded: "move", refused: "refuse", expired: "expire" };

/** Why a zone lost its status, for its owner; does not reveal who owns the name instead. */
function reasonOf({ name, proof }: ZoneRow, { kind, losesPair }: WhatHappened): string {
  if (kind === "refused") return `The operator has given the names around ${name} to another account.`;
  if (losesPair !== undefined) return `Another account has proved that it owns ${name}.`;
  return proof === "consent"
    ? `The zone above ${name} no longer delegates it to the zone's name servers.`
    : `The parent of ${name} has named other name servers for a day.`;
}

async function activate(deps: TransitionDeps, unit: Unit, call: Call, zone: ZoneRow, proof: ZoneProof): Promise<void> {
  const nowMs = deps.clock.nowMs();
  const others = (await zonesOfName(unit.db, zone.name)).filter(({ id }) => id !== zone.id);
  // The latest proof wins, because only one zone of a name is active.
  const lost: WhatHappened = { kind: "superseded", proof: "none", losesPair: proof !== "delegation" };
  for (const other of others) if (other.status === "active") await carryOut(deps, unit, call, other, lost);
  const opened = await openZone(unit, zone.id);
  const seen = latestSerial([...others, ...(await formerZones(unit.db, zone.name))].map(({ serial }) => serial));
  const serial = serialAfter(seen, opened.serial);
  const isNew = zone.status !== "active";
  const row = await writeZone(
    deps,
    unit,
    { ...opened, serial },
    {
      ...{ status: "active", proof, serial },
      ...(isNew ? { activated_on: isoMicros(deps.clock.nowMicros()) } : {}),
      ...(zone.type === "partial" ? {} : { verification_key: "" }),
    },
  );
  await begin(unit, row, nowMs);
  if (!isNew) return;
  // Its transfers were limited while it was pending, and may be an hour old.
  if (row.type === "secondary") await updateIncomingState(unit.db, row.id, { next_check_ms: nowMs });
  // Custom hostnames may only have waited for their zone.
  await checkPendingNow(unit.db, row.id, nowMs);
  if (deps.issuing === null) await putClaim(unit.db, { ...newClaim(row, nowMs), next_look_ms: nowMs });
  else await certify(deps.issuing, unit, row);
}

/** Issues the certificates of an active zone without any. Signing takes some milliseconds of the unit. */
export async function certify(issuing: Issuing, unit: Unit, zone: ZoneRow): Promise<void> {
  if ((await certificatesOfZone(unit.db, zone.id)).length > 0) return;
  const certificate = issuing.ca === null ? null : await issueZoneCertificate(issuing, issuing.ca, zone);
  if (certificate !== null) await addCertificate(unit, certificate);
  await issuing.ordering.orderForZone(unit, zone);
}

/** The previous proof no longer holds, so the zone must be proved again. */
async function stepBack(deps: TransitionDeps, unit: Unit, zone: ZoneRow, status: ZoneStatus, event: WhatHappened): Promise<void> {
  const row = await writeZone(deps, unit, await openZone(unit, zone.id), {
    ...{ status, proof: "none", verification_key: hasNoParent(zone.name) ? "" : newId() },
    ...(event.losesPair === true ? { pair: "[]" } : {}),
  });
  await putClaim(unit.db, newClaim(row, deps.clock.nowMs()));
}

/** Schedules checks of the zone, if its ownership is open. */
export async function begin(unit: Unit, zone: ZoneRow, nowMs: number): Promise<void> {
  const isSettled = zone.status === "active" && (zone.proof === "operator" || zone.proof === "txt");
  if (isSettled) await deleteClaim(unit.db, zone.id);
  else await putClaim(unit.db, newClaim(zone, nowMs));
}
