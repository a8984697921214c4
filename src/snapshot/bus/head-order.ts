import type { Clock } from "#kernel/clock.ts";
import type { BusHead } from "./bus-message.ts";

/** A heartbeat comes each second: without one for this long, control's clock may have gone back, or may not be that of this machine. */
const SILENT_MS = 5_000;
/** The first heartbeat of a process waits as long if it is older than this by the clock of this machine. */
const OLD_MS = 10_000;

/**
 * Whether a signed heartbeat is newer than those before it. Otherwise anybody who may publish on the bus could take a node back to what
 * control said earlier: to another history, or to what it held back since.
 */
export function createHeadOrder(clock: Pick<Clock, "monotonicMs" | "nowMs">): (head: BusHead) => boolean {
  let newest: number | undefined;
  let acceptedMs = -Infinity;
  return ({ time = 0 }) => {
    const nowMs = clock.monotonicMs();
    if (newest === undefined) [newest, acceptedMs] = [clock.nowMs() - OLD_MS, nowMs];
    if (time <= newest && nowMs - acceptedMs < SILENT_MS) return false;
    newest = time;
    acceptedMs = nowMs;
    return true;
  };
}
