/** Source of a body. Null means that no more is available yet. */
export interface BodySource {
  from(offset: number): Buffer | null;
  /** The reader needs no more. */
  close?(): void;
}

/** Receives the body of a stored response. */
export interface BodyReader {
  /** More of the body is available. */
  pump(): void;
  /** The response has begun and must be aborted. */
  cut(): void;
  /** Sends the request to the origin. */
  goAlone(): void;
}
