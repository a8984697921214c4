/** A failed attempt; `message` is for the account. */
export class DeliveryError extends Error {
  /** For the operator; does not name recipients. */
  readonly logged: string;
  /** Retrying cannot succeed. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    { logged, isFinal, cause }: { readonly logged: string; readonly isFinal: boolean; readonly cause?: unknown },
  ) {
    super(message, { cause });
    this.name = "DeliveryError";
    this.logged = logged;
    this.isFinal = isFinal;
  }
}
