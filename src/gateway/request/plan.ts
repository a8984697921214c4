import type { IncomingHttpHeaders } from "node:http";
import type { GatewayEntry } from "#snapshot/entries.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import type { KeyMask } from "#gateway/http/key-mask.ts";
import type { RequestBody } from "./request-body.ts";
import type { RequestOptions } from "./request-options.ts";
import type { RequestPath } from "./request-path.ts";
import type { SpendBound } from "./spend-bound.ts";
import type { LocationFacts } from "./provider-location-facts.ts";
import type { Usage, UsageShape } from "#gateway/usage/usage-formats.ts";

/**
 * The steps of one request in their order; each is a request to one provider. A step is taken only after the previous one
 * failed, so a plan may decide late. `undefined` ends the plan; planners bound their plans.
 */
export interface Plan {
  next(): Step | undefined;
}

/** One request to one provider. It is repeated, unchanged, as often as its options allow. */
export interface Step {
  /** Index in the plan, as in `{prefix}-aig-step`. */
  readonly index: number;
  /** The provider's name in the row, for prices and for the answer's fields. */
  readonly provider: string;
  readonly model: string;
  /** Path below the provider, without the query, as in the row. */
  readonly path: string;
  /** `https://api.example.com` */
  readonly origin: string;
  /** Whether a customer named the origin: then the gateway checks its address before it connects. */
  readonly isGuarded: boolean;
  /** Path and query at the origin. */
  readonly target: string;
  readonly method: string;
  /** With the provider's credential; without the body's length. */
  readonly headers: FlatHeaders;
  /** The last of `headers`, which the provider's owner has stored, if they include a credential. */
  readonly storedFields?: readonly string[];
  /** The credentials among `headers` that the client may not read, and the mask that hides them in answers. */
  readonly secrets?: readonly string[];
  readonly mask?: KeyMask;
  readonly body: ReadyBody;
  /** The format of the provider's token counts; they are read from its answer before any transform. */
  readonly usage: UsageShape;
  /** US dollars by the prices of the provider's owner; undefined: the table's prices. */
  readonly price: ((model: string, usage: Usage) => number | null) | undefined;
  readonly options: RequestOptions;
  /** Limits on the cost of the step, beside the gateway's own rules. */
  readonly bounds?: readonly SpendBound[];
  /** Transforms of the answer, in this order. */
  readonly transforms: readonly MakeTransform[];
  /**
   * The step at the location that its key names; without it the URL is only a placeholder. Throws a RefusalError if the
   * location is unknown.
   */
  readonly placed?: (facts: LocationFacts) => Step;
}

export type ReadyBody = Extract<RequestBody, { readonly kind: "whole" | "stream" }>;

/** Called for each answer; undefined if this answer passes unchanged. */
export type MakeTransform = (head: AnswerHead) => AnswerTransform | undefined;

export interface AnswerHead {
  readonly status: number;
  /** As the provider sent them, with lower-case names. */
  readonly headers: IncomingHttpHeaders;
}

/**
 * Changes or inspects an answer while it passes. Chunks may end anywhere. Any method may throw a
 * RefusalError: a client without any bytes yet gets the refusal, another one is cut off.
 */
export interface AnswerTransform {
  /** The head for the next transform. It has no length: the sender computes it. */
  head(head: AnswerHead): AnswerHead;
  /** Undefined: nothing to send yet. The client gets the head together with the first bytes. */
  chunk(bytes: Buffer): Buffer | undefined;
  /** The output after the last chunk. */
  end(): Buffer | undefined;
  /**
   * Set while it goes on in slices after `chunk` or `end`: until it resolves, no other method is called, and `worked` is
   * next.
   */
  readonly work?: Promise<void> | undefined;
  /** The output that the work allows. */
  worked?(): Buffer | undefined;
  /** After the end: whether the answer is complete but reports that the model failed. */
  readonly hasFailed?: boolean;
  /** After the end, before any byte is sent: rejects with a RefusalError if the answer must not be sent. */
  verdict?(): Promise<void>;
  /** Bytes that tell the client of a stream about the cut; the connection is closed after them. */
  cut?(reason: GatewayErrorName): Buffer | undefined;
}

/** A request with an admitted head, and its body as far as it is in memory. */
export interface PlanRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly path: RequestPath;
  readonly gateway: GatewayEntry;
  readonly body: ReadyBody;
  readonly options: RequestOptions;
}

/** A plan of known steps. */
export function planOf(steps: readonly Step[]): Plan {
  let at = 0;
  return { next: () => steps[at++] };
}
