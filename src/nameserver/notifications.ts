import { formatIp } from "#kernel/ip.ts";
import type { Metric, MetricRegistry } from "#kernel/metrics.ts";
import { CLASS, EXTENDED_ERROR, HEADER_BYTES, RCODE, TYPE } from "#wire/dns/codes.ts";
import { keyOf } from "#wire/dns/name.ts";
import type { Exchange, Handler } from "./exchange.ts";
import { encodeAcknowledgement, encodeRefusal, type Refusal } from "./response.ts";
import type { TransferPartners } from "./transfer-partners.ts";
import type { Zones } from "./zones.ts";

export interface NotificationsDeps {
  readonly zones: Pick<Zones, "find">;
  readonly partners: Pick<TransferPartners, "incoming">;
  readonly metrics: MetricRegistry;
  /** The primary at the address says that the zone has changed. Called once in NOTICE_MS for each zone at the most. */
  onNotified(zoneId: string, from: string): void;
}

/** Between two notices of one zone. */
const NOTICE_MS = 1_000;

const MALFORMED: Refusal = { rcode: RCODE.FORMERR };
const NO_SECONDARY: Refusal = { rcode: RCODE.NOTAUTH, extendedError: EXTENDED_ERROR.NOT_AUTHORITATIVE };
const STRANGER: Refusal = { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.PROHIBITED };

/**
 * The opcode NOTIFY (RFC 1996): a primary's word that a secondary zone has changed. What it says of the change is not read:
 * the zone's SOA is asked for. Strangers are refused, so that nobody makes us ask.
 */
export function createNotifications({ zones, partners, metrics, onNotified }: NotificationsDeps): Handler {
  const counted = (result: "accepted" | "refused"): Metric =>
    metrics.counter("selvedge_dns_notifications_total", "NOTIFY messages received about zones", { result });
  const [accepted, refused] = [counted("accepted"), counted("refused")];
  const notice = createNotices(onNotified);

  /** The zone's id, or why the sender has nothing to say about it. */
  const judge = ({ packet, query, client, signature }: Exchange): string | Refusal => {
    if (query.type !== TYPE.SOA || query.class !== CLASS.IN) return MALFORMED;
    const name = keyOf(packet, HEADER_BYTES, query.nameEnd - HEADER_BYTES);
    const zone = zones.find(name);
    const side = zone?.key === name && zone.entry.type === "secondary" ? partners.incoming(zone.id) : undefined;
    if (!zone || !side) return NO_SECONDARY;
    return side.admits(client.address, signature.key) ? zone.id : STRANGER;
  };

  return (exchange) => {
    const judged = judge(exchange);
    if (typeof judged !== "string") {
      refused.value += 1;
      return encodeRefusal(exchange, judged);
    }
    accepted.value += 1;
    const { address } = exchange.client;
    notice(judged, formatIp({ family: address.length === 4 ? 4 : 6, bytes: address }));
    return encodeAcknowledgement(exchange);
  };
}

/** Passes a zone's first notice on at once, and of those within the time after it the last one, at its end. */
function createNotices(send: NotificationsDeps["onNotified"]): NotificationsDeps["onNotified"] {
  /** The last sender within the time; null while there is none. */
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
