import { formatIp } from "#kernel/net/ip.ts";
import type { Metric, MetricRegistry } from "#kernel/process/metrics.ts";
import { CLASS, EXTENDED_ERROR, HEADER_BYTES, RCODE, TYPE } from "#wire/dns/codes.ts";
import { keyOf } from "#wire/dns/name.ts";
import type { Exchange, Handler } from "#nameserver/message/exchange.ts";
import { encodeAcknowledgement, encodeRefusal, type Refusal } from "#nameserver/message/response.ts";
import type { TransferPartners, TransferSide } from "#nameserver/tsig/transfer-acl.ts";
import type { Zones } from "#nameserver/zones/zones.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

export interface NotificationsDeps {
  readonly zones: Pick<Zones, "nearestZone" | "named">;
  readonly partners: Pick<TransferPartners, "incoming">;
  readonly metrics: MetricRegistry;
  /** The primary at the address announced a change of the zone. Called at most once per zone in NOTICE_MS. */
  onNotified(zoneId: string, from: string): void;
}

/** Minimum interval between two notices of one zone. */
const NOTICE_MS = 1_000;

const MALFORMED: Refusal = { rcode: RCODE.FORMERR };
const NO_SECONDARY: Refusal = { rcode: RCODE.NOTAUTH, extendedError: EXTENDED_ERROR.NOT_AUTHORITATIVE };
const STRANGER: Refusal = { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.PROHIBITED };

/**
 * Handles the opcode NOTIFY (RFC 1996): a primary announces a change of a secondary zone. Ignores the records in the
 * message, because the secondary queries the SOA anyway. Refuses strangers, so that they cannot cause queries.
 */
export function createNotifications({ zones, partners, metrics, onNotified }: NotificationsDeps): Handler {
  const counted = (result: "accepted" | "refused"): Metric =>
    metrics.counter("selvedge_dns_notifications_total", "NOTIFY messages received about zones", { result });
  const [accepted, refused] = [counted("accepted"), counted("refused")];
  const notice = createNotifyQueue(onNotified);

  const sideOf = ({ id, entry }: ZoneIndex): TransferSide | undefined => (entry.type === "secondary" ? partners.incoming(id) : undefined);

  /**
   * The ids of the zones whose primary is the sender, or the refusal. Several accounts may have a secondary zone of one
   * name; key and address decide which are meant. To strangers, unproved zones look as if they did not exist.
   */
  const judge = ({ packet, query, client, signature }: Exchange): readonly string[] | Refusal => {
    if (query.type !== TYPE.SOA || query.class !== CLASS.IN) return MALFORMED;
    const name = keyOf(packet, HEADER_BYTES, query.nameEnd - HEADER_BYTES);
    const meant = Array.from(zones.named(name).filter((zone) => sideOf(zone)?.admits(client.address, signature.key) === true));
    if (meant.length > 0) return meant.map(({ id }) => id);
    const zone = zones.nearestZone(name, null);
    return zone?.key === name && sideOf(zone) ? STRANGER : NO_SECONDARY;
  };

  return (exchange) => {
    const judged = judge(exchange);
    if ("rcode" in judged) {
      refused.value += 1;
      return encodeRefusal(exchange, judged);
    }
    accepted.value += 1;
    const { address } = exchange.client;
    const from = formatIp({ family: address.length === 4 ? 4 : 6, bytes: address });
    for (const id of judged) notice(id, from);
    return encodeAcknowledgement(exchange);
  };
}

/** Passes on a zone's first notice at once, and the last of those within the interval at its end. */
function createNotifyQueue(send: NotificationsDeps["onNotified"]): NotificationsDeps["onNotified"] {
  /** The last sender within the interval; null if none. */
  const repeated = new Map<string, string | null>();
  const notice = (zoneId: string, from: string): void => {
    if (repeated.has(zoneId)) {
      repeated.set(zoneId, from);
      return;
    }
    repeated.set(zoneId, null);
    send(zoneId, from);
    const end = (): void => {
      const last = repeated.get(zoneId) ?? null;
      repeated.delete(zoneId);
      if (last !== null) notice(zoneId, last);
    };
    setTimeout(end, NOTICE_MS).unref();
  };
  return notice;
}
