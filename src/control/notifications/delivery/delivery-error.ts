/** An attempt that failed; `message` is for the account. */
export class DeliveryError extends Error {
  /** For the operator: names no recipient. */
  readonly logged: string;
  /** No later attempt can end otherwise. */
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
