import { isoMicros } from "#kernel/clock.ts";
import { primaryCopy } from "#model/dns/transferred-apex.ts";
import type { IncomingTransfer } from "#model/dns/zone-transfer.ts";
import type { IncomingState } from "#store/dns/incoming-transfers.ts";
import type { ZoneRow } from "#store/zones/zones.ts";
import { expiresAtMs } from "./timers.ts";

type IncomingStatus = Pick<
  IncomingTransfer,
  "status" | "checked_time" | "transferred_time" | "next_check_time" | "expires_time" | "transfer_method" | "last_error"
>;

/** The status of a zone's incoming transfers. */
export function incomingStatus(zone: ZoneRow | undefined, state: IncomingState | undefined): IncomingStatus {
  const copy = zone && primaryCopy(zone);
  const time = (ms: number | null | undefined): string | null => (typeof ms === "number" ? isoMicros(ms * 1000) : null);
  const checked = time(state?.checked_ms);
  const active = zone?.type === "secondary" && state !== undefined;
  return {
    status: !active ? "inactive" : statusOf(copy?.expired === true, copy?.apex !== undefined && copy.apex !== null, state.failures),
    ...(typeof checked === "string" ? { checked_time: checked } : {}),
    transferred_time: time(state?.transferred_ms),
    next_check_time: active ? time(state.next_check_ms) : null,
    expires_time: time(expiresAtMs(copy?.apex ?? null, state?.confirmed_ms ?? null)),
    transfer_method: (state?.method ?? null) as IncomingTransfer["transfer_method"],
    last_error: state?.last_error ?? null,
  };
}

function statusOf(expired: boolean, transferred: boolean, failures: number): IncomingTransfer["status"] {
  if (transferred && expired) return "expired";
  if (failures > 0) return "failing";
  return transferred ? "ok" : "pending";
}
