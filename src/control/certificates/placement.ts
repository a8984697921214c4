import { httpUrl, type Method, type PlacedOrder, type Proof, txtName, txtValue } from "#acme/issuance.ts";
import { systemCall } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import { raiseServedSerial } from "#control/dns/dnssec/signature-serial.ts";
import type { Op } from "#snapshot/entries.ts";
import type { CertificateOrderRow } from "#store/certificates/certificate-orders.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { encodeContent } from "#wire/dns/record-types.ts";
import type { ValidationRecord } from "./owner.ts";

/** An order that an authority has accepted, and the places of its challenges: the `placed` column. */
export interface Placement {
  readonly order: PlacedOrder;
  /** By host: the place where the edge or a hosted zone serves its challenge. Other hosts' owners must serve theirs. */
  readonly homes: Readonly<Record<string, ChallengePlacement>>;
}

export interface ChallengePlacement {
  readonly zone_id: string;
  /** Name of the page or TXT record: that of the challenge, or the target of its alias. */
  readonly name: string;
}

export const placementOf = ({ placed }: CertificateOrderRow): Placement | null =>
  placed === null ? null : (JSON.parse(placed) as Placement);

/** Short, because the record is removed after about a minute. */
const TXT_TTL_SECONDS = 60;

/** The planes' entries for the order: pages over HTTP, TXT records in hosted zones. */
export function proofOps(orderId: string, method: Method, { order, homes }: Placement): readonly Op[] {
  return missing(order).flatMap((proof, index): Op[] => {
    const home = homes[proof.host];
    if (home === undefined) return [];
    if (method === "http")
      return [{ kind: "acme_challenge", id: proof.token, value: { host: proof.host, key_authorization: proof.keyAuthorization } }];
    return [txtOp(`acme-${orderId}-${index}`, home, proof)];
  });
}

/** A record that lists do not contain: the installation creates and removes it. */
function txtOp(id: string, { zone_id, name }: ChallengePlacement, { keyAuthorization }: Proof): Op {
  const content = `"${txtValue(keyAuthorization)}"`;
  const rdata = Buffer.from(encodeContent("TXT", content, { origin: name })).toString("base64");
  return { kind: "record", id, value: { zone_id, name, type: "TXT", ttl: TXT_TTL_SECONDS, content, rdata, proxied: false } };
}

/** Adds or removes the challenges; secondaries of a zone are notified. */
export async function changeProofs(
  unit: Unit,
  row: CertificateOrderRow,
  placement: Placement,
  change: "show" | "take_back",
): Promise<void> {
  const ops = proofOps(row.id, row.method, placement);
  if (ops.length === 0) return;
  for (const op of ops) unit.change(change === "show" ? op : { ...op, value: null });
  if (row.method === "txt") for (const zoneId of zonesOf(placement)) await raiseServedSerial(unit, zoneId);
  unit.audit({
    action: `certificate_order.${change}_proofs`,
    actor: auditActor(systemCall("certificate-orders")),
    account_id: (await zoneRowById(unit.db, row.zone_id))?.account_id ?? null,
    zone_id: row.zone_id,
    resource: { type: "certificate_order", id: row.id },
    after: { hosts: JSON.parse(row.hosts) as string[], method: row.method, authority: row.authority },
  });
}

/** The challenges as displayed to the owner of the name. */
export function validationRecords(method: Method, { order }: Placement): readonly ValidationRecord[] {
  return missing(order).map(({ host, token, keyAuthorization }) =>
    method === "http"
      ? { status: "pending", http_url: httpUrl(host, token), http_body: keyAuthorization }
      : { status: "pending", txt_name: txtName(host), txt_value: txtValue(keyAuthorization) },
  );
}

/** Challenges that are not served here. */
export const foreignRecords = (method: Method, placement: Placement): readonly ValidationRecord[] =>
  validationRecords(method, { ...placement, order: { ...placement.order, proofs: foreignProofs(placement) } });

export const foreignProofs = ({ order, homes }: Placement): readonly Proof[] =>
  missing(order).filter(({ host }) => homes[host] === undefined);

const zonesOf = ({ homes }: Placement): ReadonlySet<string> => new Set(Object.values(homes).map(({ zone_id }) => zone_id));

export const missing = ({ proofs }: PlacedOrder): readonly Proof[] => proofs.filter(({ isValid }) => !isValid);
