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
  /** A zone's primary says that the zone has changed. Called once in NOTICE_MS for each zone at the most. */
  onNotified(zoneId: string): void;
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
    notice(judged);
    return encodeAcknowledgement(exchange);
  };
}

/** Passes a zone's first notice on at once, and of those within the time after it one at its end. */
function createNotices(send: (zoneId: string) => void): (zoneId: string) => void {
  const repeated = new Map<string, boolean>();
  const notice = (zoneId: string): void => {
    if (repeated.has(zoneId)) {
      repeated.set(zoneId, true);
      return;
    }
    repeated.set(zoneId, false);
    send(zoneId);
    const end = (): void => {
      const again = repeated.get(zoneId) === true;
      repeated.delete(zoneId);
      if (again) notice(zoneId);
    };
    setTimeout(end, NOTICE_MS).unref();
  };
  return notice;
}
