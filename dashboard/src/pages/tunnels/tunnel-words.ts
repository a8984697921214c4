import type { Tunnel, TunnelStatus } from "#model/tunnels/tunnel.ts";
import type { Tone } from "../../parts/page.tsx";

/** A tunnel's status as a badge says it. */
export const STATUS_TONES: Readonly<Record<TunnelStatus, Tone>> = { healthy: "good", degraded: "warn", down: "bad", inactive: "plain" };

/** A tunnel's status as a sentence. */
export const STATUS_SENTENCES: Readonly<Record<TunnelStatus, string>> = {
  healthy: "Connected: requests of its names reach its services.",
  degraded: "Only one connection is left: the loss of it is an outage.",
  down: "No connector is connected, so visitors of its names get error 1033.",
  inactive: "No connector has been connected yet. Run one near the services.",
};

/** The name to which DNS records of a tunnel lead. */
export const targetOf = ({ id }: Pick<Tunnel, "id">): string => `${id}.tunnel.internal`;
