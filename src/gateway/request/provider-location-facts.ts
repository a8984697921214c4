/** Parts of a provider's URL that a key may name, besides the model. */
export interface LocationFacts {
  readonly project?: string;
  readonly region?: string;
}
