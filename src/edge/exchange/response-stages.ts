import type { LateTap } from "#edge/detection/late-tap.ts";
import type { Page } from "#edge/pages/error-page.ts";
import type { Framing } from "#wire/http/framing.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import type { Exchange } from "./exchange.ts";

/** What is done with the head of each response, from an origin or from the cache. */
export interface ResponseStages {
  /** The site's own page instead of an error of the origin's; null where its response goes on. */
  substitute(exchange: Exchange, buffer: Buffer, head: Head): Page | null;
  /** Runs the response stages over a head from the origin. A tap wants the body, and what is there of the head until it was settled. */
  response(exchange: Exchange, buffer: Buffer, head: Head, framing: Framing): LateTap | null;
}
