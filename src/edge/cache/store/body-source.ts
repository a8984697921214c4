/** Where a body comes from: null where there is nothing more yet. */
export interface BodySource {
  from(offset: number): Buffer | null;
  /** Nothing more is asked for. */
  close?(): void;
}

/** Whoever is given the body of a stored response. */
export interface BodyReader {
  /** More of the body is there. */
  pump(): void;
  /** What was begun cannot be completed. */
  cut(): void;
  /** The origin is to answer this request by itself. */
  goAlone(): void;
}
