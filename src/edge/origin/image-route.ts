import type { OriginPlan } from "#edge/exchange/decisions.ts";
import type { Exchange } from "#edge/exchange/exchange.ts";
import { accountHash, DELIVERY_PATH, UPLOAD_PATH } from "#kernel/net/image-urls.ts";

/** Recognises requests for images of the account that owns the zone, and knows the address of control, which has the images. */
export interface ImageRoute {
  /** Null for other requests, or if the port is unknown: control runs on another machine. */
  originOf(exchange: Pick<Exchange, "path" | "zone">): OriginPlan | null;
  moveTo(port: number): void;
}

const COMMON = "/cdn-cgi/image";

export function createImageRoute(port: number): ImageRoute {
  const planAt = (at: number): OriginPlan | null => (at === 0 ? null : { addresses: ["127.0.0.1"], port: at, tls: null });
  let plan = planAt(port);
  return {
    originOf: ({ path, zone }) => {
      if (!path.startsWith(COMMON) || zone === null) return null;
      const base = path.startsWith(DELIVERY_PATH) ? DELIVERY_PATH : path.startsWith(UPLOAD_PATH) ? UPLOAD_PATH : null;
      return base !== null && path.startsWith(`${accountHash(zone.entry.account_id)}/`, base.length) ? plan : null;
    },
    moveTo: (at) => {
      plan = planAt(at);
    },
  };
}
