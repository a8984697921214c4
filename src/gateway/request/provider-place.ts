/** Parts of a provider's address that a key may name, beside the model. */
export interface PlaceFacts {
  readonly project?: string;
  readonly region?: string;
}
