/** Parts of a provider's address that a key may name, beside the model. */
export interface LocationFacts {
  readonly project?: string;
  readonly region?: string;
}
