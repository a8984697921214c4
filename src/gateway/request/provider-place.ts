/** What the address of a provider needs beside the model, where a key tells it. */
export interface PlaceFacts {
  readonly project?: string;
  readonly region?: string;
}
