import type { Clock } from "#kernel/clock.ts";
import type { GatewayEntry } from "#snapshot/entries.ts";
import type { RequestPath } from "#gateway/request/request-path.ts";

/** The gateway that every account has from its first use on. */
export interface DefaultGateways {
  /** The default gateway as control will create it; undefined for any other gateway, and without a token that may run it. */
  find(path: RequestPath, isAllowed: () => boolean): GatewayEntry | undefined;
}

const DEFAULT_GATEWAY = "default";
const ACCOUNT_ID = /^[0-9a-f]{32}$/;
/** Milliseconds after which the gateway notifies control again, if control has not created the gateway by then. */
const TOLD_MS = 5_000;
const ACCOUNTS_MAX = 1000;

/** The first request with a token does not wait for control, which is notified and creates the gateway. */
export function createDefaultGateways({
  clock,
  onDefaultGateway,
}: {
  readonly clock: Clock;
  readonly onDefaultGateway?: (accountId: string, atMs: number) => void;
}): DefaultGateways {
  const told = new Map<string, number>();
  return {
    find: ({ accountId, gatewayId }, isAllowed) => {
      if (onDefaultGateway === undefined || gatewayId !== DEFAULT_GATEWAY || !ACCOUNT_ID.test(accountId) || !isAllowed()) return undefined;
      const nowMs = clock.nowMs();
      if (Math.abs(nowMs - (told.get(accountId) ?? -Infinity)) > TOLD_MS) {
        if (told.size >= ACCOUNTS_MAX) told.clear();
        told.set(accountId, nowMs);
        onDefaultGateway(accountId, nowMs);
      }
      return { account_id: accountId, gateway_id: gatewayId, authentication: true, collect_logs: true };
    },
  };
}
