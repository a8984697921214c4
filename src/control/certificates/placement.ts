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

/** An order that an authority has, and where its proofs are shown: the `placed` column. */
export interface Placement {
  readonly order: PlacedOrder;
  /** By host: where it is proved here, by the edge or a zone. Others are proved by whoever has the name. */
  readonly homes: Readonly<Record<string, ProofHome>>;
}

export interface ProofHome {
  readonly zone_id: string;
  /** Of the page, or of the TXT record: that of the challenge, or what it is an alias of. */
  readonly name: string;
}

export const placementOf = ({ placed }: CertificateOrderRow): Placement | null =>
  placed === null ? null : (JSON.parse(placed) as Placement);

/** Short, since the record is gone again in a minute. */
const TXT_TTL_SECONDS = 60;

/** What planes show for the order: pages over HTTP, TXT records in zones here. */
export function proofOps(orderId: string, method: Method, { order, homes }: Placement): readonly Op[] {
  return missing(order).flatMap((proof, index): Op[] => {
    const home = homes[proof.host];
    if (home === undefined) return [];
    if (method === "http")
      return [{ kind: "acme_challenge", id: proof.token, value: { host: proof.host, key_authorization: proof.keyAuthorization } }];
    return [txtOp(`acme-${orderId}-${index}`, home, proof)];
  });
}

/** A record that no list shows: it is of the installation's making and goes by itself. */
function txtOp(id: string, { zone_id, name }: ProofHome, { keyAuthorization }: Proof): Op {
  const content = `"${txtValue(keyAuthorization)}"`;
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

/** For the owner of a name that is to be proved elsewhere, and to look at. */
export function validationRecords(method: Method, { order }: Placement): readonly ValidationRecord[] {
  return missing(order).map(({ host, token, keyAuthorization }) =>
    method === "http"
      ? { status: "pending", http_url: httpUrl(host, token), http_body: keyAuthorization }
      : { status: "pending", txt_name: txtName(host), txt_value: txtValue(keyAuthorization) },
  );
}

/** Those that nothing here shows. */
export const foreignRecords = (method: Method, placement: Placement): readonly ValidationRecord[] =>
  validationRecords(method, { ...placement, order: { ...placement.order, proofs: foreignProofs(placement) } });

export const foreignProofs = ({ order, homes }: Placement): readonly Proof[] =>
  missing(order).filter(({ host }) => homes[host] === undefined);

const zonesOf = ({ homes }: Placement): ReadonlySet<string> => new Set(Object.values(homes).map(({ zone_id }) => zone_id));

export const missing = ({ proofs }: PlacedOrder): readonly Proof[] => proofs.filter(({ isValid }) => !isValid);
