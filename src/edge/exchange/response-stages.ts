import type { DeferredTee } from "#edge/detection/deferred-tee.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Exchange } from "./exchange.ts";
import type { HeldResponse } from "./held-response.ts";

/** Processing of each response head, from an origin or from the cache. */
export interface ResponseStages {
  /**
   * The page that replaces the response: of a rule that blocks it, or for an error of the origin; null to pass the response
   * on. A held response keeps the body until it is full or complete, and then goes to `substituteHeld`.
   */
  substitute(exchange: Exchange, buffer: Buffer, head: Head, framing: Framing): Page | HeldResponse | null;
  substituteHeld(exchange: Exchange, held: HeldResponse): Page | null;
  /** Runs the response stages on a head from the origin. Returns the tee that scans the body, or null. */
  response(exchange: Exchange, buffer: Buffer, head: Head, framing: Framing): DeferredTee | null;
}
