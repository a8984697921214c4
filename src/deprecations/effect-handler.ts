import type { ErrorItem } from "#kernel/errors/errors.ts";
import type { Deprecation, Effect } from "./deprecation.ts";

/** Query parameters as received: a list where a name was repeated. */
export type Query = Readonly<Record<string, string | readonly string[]>>;
export type JsonObject = Readonly<Record<string, unknown>>;

/** The facts that legacy response fields are made of. */
export interface Facts {
  readonly zone: { readonly id: string; readonly name: string } | null;
}

/**
 * What a row does to one request on one side of its date. A function that returns its argument has nothing to do
 * with the request; one that throws refuses it.
 */
export interface Interpretation {
  /** The row concerns every request of its routes, whatever is in it. */
  readonly always?: boolean;
  readonly gone?: boolean;
  query?(query: Query): Query;
  body?(body: JsonObject): JsonObject;
  result?(object: JsonObject, facts: Facts): JsonObject;
  /** Over the objects of a list, before each of them goes through `result`. */
  list?(objects: readonly JsonObject[]): readonly JsonObject[];
  errors?(items: readonly ErrorItem[]): readonly ErrorItem[];
}

export interface Sides {
  readonly before: Interpretation;
  readonly after: Interpretation;
}

/** Reads one kind of effect. `row` is there for messages. */
export type EffectHandler<E extends Effect> = (effect: E, row: Deprecation) => Sides;
