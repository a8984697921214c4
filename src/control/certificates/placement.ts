import { httpUrl, type Method, type PlacedOrder, type Proof, txtName, txtValue } from "#acme/issuance.ts";
import { systemCall } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import { raiseServedSerial } from "#control/dns/signature-serial.ts";
import type { Op } from "#snapshot/entries.ts";
import type { CertificateOrderRow } from "#store/certificate-orders.ts";
import type { Unit } from "#store/store.ts";
import { zoneRowById } from "#store/zones.ts";
import { encodeContent } from "#wire/dns/record-types.ts";
import type { ValidationRecord } from "./owner.ts";

/** An order that an authority has, and where its proofs are shown: the `placed` column. */
export interface Placement {
  readonly order: PlacedOrder;
  /** By host: the zone here that shows its TXT record. Others are shown by whoever has the name. */
  readonly zones: Readonly<Record<string, string>>;
}

export const placementOf = ({ placed }: CertificateOrderRow): Placement | null =>
  placed === null ? null : (JSON.parse(placed) as Placement);

/** Short, since the record is gone again in a minute. */
const TXT_TTL_SECONDS = 60;

/** What planes show for the order: pages over HTTP, TXT records in zones here. */
export function proofOps(orderId: string, method: Method, { order, zones }: Placement): readonly Op[] {
  return missing(order).flatMap((proof, index): Op[] => {
    if (method === "http")
      return [{ kind: "acme_challenge", id: proof.token, value: { host: proof.host, key_authorization: proof.keyAuthorization } }];
    const zoneId = zones[proof.host];
    return zoneId === undefined ? [] : [txtOp(`acme-${orderId}-${index}`, zoneId, proof)];
  });
}

/** A record that no list shows: it is of the installation's making and goes by itself. */
function txtOp(id: string, zone_id: string, proof: Proof): Op {
  const [name, content] = [txtName(proof.host), `"${txtValue(proof.keyAuthorization)}"`];
  const rdata = Buffer.from(encodeContent("TXT", content, { origin: name })).toString("base64");
  return { kind: "record", id, value: { zone_id, name, type: "TXT", ttl: TXT_TTL_SECONDS, content, rdata, proxied: false } };
}

/** Shows the proofs, or takes them back; servers that fetch a zone learn of it. */
export async function changeProofs(
  unit: Unit,
  row: CertificateOrderRow,
  placement: Placement,
  change: "show" | "take_back",
): Promise<void> {
  const ops = proofOps(row.id, row.method, placement);
  if (ops.length === 0) return;
  for (const op of ops) unit.change(change === "show" ? op : { ...op, value: null });
  if (row.method === "txt") for (const zoneId of new Set(Object.values(placement.zones))) await raiseServedSerial(unit, zoneId);
  unit.audit({
    action: `certificate_order.${change}_proofs`,
    actor: auditActor(systemCall("certificate-orders")),
    account_id: (await zoneRowById(unit.db, row.zone_id))?.account_id ?? null,
    zone_id: row.zone_id,
    resource: { type: "certificate_order", id: row.id },
    after: { hosts: JSON.parse(row.hosts) as string[], method: row.method, authority: row.authority },
  });
}

/** For the owner of a name that is to be proved elsewhere, and to look at. */
export function validationRecords(method: Method, { order }: Placement): readonly ValidationRecord[] {
  return missing(order).map(({ host, token, keyAuthorization }) =>
    method === "http"
      ? { status: "pending", http_url: httpUrl(host, token), http_body: keyAuthorization }
      : { status: "pending", txt_name: txtName(host), txt_value: txtValue(keyAuthorization) },
  );
}

/** Those that no zone here shows. */
export const foreignRecords = (method: Method, { order, zones }: Placement): readonly ValidationRecord[] =>
  validationRecords(method, { zones, order: { ...order, proofs: order.proofs.filter(({ host }) => zones[host] === undefined) } });

export const missing = ({ proofs }: PlacedOrder): readonly Proof[] => proofs.filter(({ isValid }) => !isValid);
