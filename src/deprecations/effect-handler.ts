import type { CallRule } from "#kernel/call-rules.ts";
import type { ErrorItem } from "#kernel/errors/errors.ts";
import type { Deprecation, Effect } from "./deprecation.ts";

/** Query parameters as received: a list if a name was repeated. */
export type Query = Readonly<Record<string, string | readonly string[]>>;
export type JsonObject = Readonly<Record<string, unknown>>;

/** The facts that legacy response fields are computed from. */
export interface Facts {
  readonly zone: { readonly id: string; readonly name: string } | null;
}

/**
 * The effect of a row on one request, on one side of its date. A function that returns its argument changes nothing; one
 * that throws refuses the request.
 */
export interface Interpretation {
  /** The row applies to every request of its routes, whatever the request contains. */
  readonly always?: boolean;
  readonly gone?: boolean;
  query?(query: Query): Query;
  body?(body: JsonObject): JsonObject;
  result?(object: JsonObject, facts: Facts): JsonObject;
  /** Called with the objects of a list, before `result` gets each of them. */
  list?(objects: readonly JsonObject[]): readonly JsonObject[];
  /** A rule that use-cases ask for. */
  readonly rule?: { readonly name: CallRule; readonly isInForce: boolean };
  errors?(items: readonly ErrorItem[]): readonly ErrorItem[];
}

export interface Sides {
  readonly before: Interpretation;
  readonly after: Interpretation;
}

/** Interprets one kind of effect. `row` is used in messages. */
export type EffectHandler<E extends Effect> = (effect: E, row: Deprecation) => Sides;
