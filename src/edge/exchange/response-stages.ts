import type { DeferredTee } from "#edge/detection/deferred-tee.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Exchange } from "./exchange.ts";

/** Processing of each response head, from an origin or from the cache. */
export interface ResponseStages {
  /** The zone's custom page that replaces an origin error; null to pass the response on. */
  substitute(exchange: Exchange, buffer: Buffer, head: Head): Page | null;
  /** Runs the response stages on a head from the origin. Returns the tap that scans the body, or null. */
  response(exchange: Exchange, buffer: Buffer, head: Head, framing: Framing): DeferredTee | null;
}
