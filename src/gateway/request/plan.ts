import type { IncomingHttpHeaders } from "node:http";
import type { GatewayEntry } from "#snapshot/entries.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { RequestBody } from "./request-body.ts";
import type { RequestOptions } from "./request-options.ts";
import type { RequestPath } from "./request-path.ts";
import type { SpendBound } from "./spend-bound.ts";
import type { PlaceFacts } from "./provider-place.ts";
import type { Usage, UsageShape } from "#gateway/usage/usage-formats.ts";

/**
 * What the runner does for one request: steps in their order, each a question to one provider. A step is asked for only
 * once the one before it has failed, so that a plan may decide late. `undefined` ends it; planners bound their plans.
 */
export interface Plan {
  next(): Step | undefined;
}

/** One question to one provider. It is sent again, unchanged, as often as its options allow. */
export interface Step {
  /** Place in the plan, as `{prefix}-aig-step` tells it. */
  readonly index: number;
  /** As the row names it; for prices and the answer's fields. */
  readonly provider: string;
  readonly model: string;
  /** Below the provider, without the query, as the row names it. */
  readonly path: string;
  /** `https://api.example.com` */
  readonly origin: string;
  /** The origin was named by a customer: where it is is looked at before it is connected to. */
  readonly isGuarded: boolean;
  /** Path and query at the origin. */
  readonly target: string;
  readonly method: string;
  /** The provider's credential among them; without the body's length. */
  readonly headers: FlatHeaders;
  /** Those at their end that a provider's owner has stored, where a credential is among them. */
  readonly storedFields?: readonly string[];
  readonly body: ReadyBody;
  /** How the provider tells token counts: read from its answer as it comes, before any transform. */
  readonly usage: UsageShape;
  /** US dollars, where the provider's owner says so; undefined: the table does. */
  readonly price: ((model: string, usage: Usage) => number | null) | undefined;
  readonly options: RequestOptions;
  /** What it may cost beside the gateway's own rules. */
  readonly bounds?: readonly SpendBound[];
  /** What the answer goes through on its way to the client, in this order. */
  readonly transforms: readonly MakeTransform[];
  /** The step at the place that its key tells; until then it stands where nobody answers. Throws a RefusalError where nothing tells a place. */
  readonly placed?: (facts: PlaceFacts) => Step;
}

export type ReadyBody = Extract<RequestBody, { readonly kind: "whole" | "stream" }>;

/** Made again for each answer; undefined where this one passes as it is. */
export type MakeTransform = (head: AnswerHead) => AnswerTransform | undefined;

export interface AnswerHead {
  readonly status: number;
  /** As the provider sent them, lower-case names. */
  readonly headers: IncomingHttpHeaders;
}

/**
 * Changes an answer while it passes: translates it, strips from it, looks at it. Synchronous. Chunks are cut anywhere.
 * Any method may throw a RefusalError: a client that has got nothing yet gets the refusal, any other one is cut off.
 */
export interface AnswerTransform {
  /** The head for the next one. The body's length is not known any more: whoever sends it works it out. */
  head(head: AnswerHead): AnswerHead;
  /** Undefined: nothing to send yet. The client gets the head together with the first bytes. */
  chunk(bytes: Buffer): Buffer | undefined;
  /** What is left after the last chunk. */
  end(): Buffer | undefined;
  /** After the end: the answer is whole, and tells that the model failed. */
  readonly hasFailed?: boolean;
  /** After the end, and before anything of it goes out: rejects with a RefusalError where the answer must not. */
  verdict?(): Promise<void>;
  /** What tells the client of a stream that it was cut; the connection is broken off after it. */
  cut?(reason: GatewayErrorName): Buffer | undefined;
}

/** A request whose head was admitted and whose body has come, as far as it is held in memory. */
export interface PlanRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly path: RequestPath;
  readonly gateway: GatewayEntry;
  readonly body: ReadyBody;
  readonly options: RequestOptions;
}

/** A plan of steps that are all known. */
export function planOf(steps: readonly Step[]): Plan {
  let at = 0;
  return { next: () => steps[at++] };
}
