import type { Asking, DispatchScan } from "#rules/expression/compile/dispatch.ts";
import type { CompiledRule } from "#rules/engine/compiled-rule.ts";
import type { RequestView, ResponseView } from "#rules/views.ts";

/** Evaluates the rules at some positions of a ruleset, in their order. */
export class ListScan implements DispatchScan {
  readonly #rules: readonly CompiledRule[];
  readonly #places: readonly number[];
  readonly #request: RequestView;
  readonly #response: ResponseView | null;
  readonly #asking: Asking;
  #at = 0;

  constructor(
    rules: readonly CompiledRule[],
    places: readonly number[],
    request: RequestView,
    response: ResponseView | null,
    asking: Asking,
  ) {
    this.#rules = rules;
    this.#places = places;
    this.#request = request;
    this.#response = response;
    this.#asking = asking;
  }

  next(): number {
    while (this.#at < this.#places.length) {
      const place = this.#places[this.#at++]!;
      this.#asking.asked = place;
      if (this.#rules[place]!.applies(this.#request, this.#response)) return place;
    }
    return -1;
  }
}
