/** Why bytes from the network are not what they claim to be. Each is a reason to answer FORMERR. */
export type WireFault =
  | "truncated"
  | "bad_label"
  | "bad_pointer"
  | "name_too_long"
  | "bad_rdata"
  | "bad_count"
  | "bad_option"
  | "bad_tsig"
  | "trailing_bytes";

/** The one error that decoders throw on bytes they cannot read. */
export class WireError extends Error {
  readonly code: WireFault;

  constructor(code: WireFault) {
    super(`malformed DNS data: ${code.replaceAll("_", " ")}`);
    this.name = "WireError";
    this.code = code;
  }
}

/** A record's value that a person or client wrote and that cannot be kept. The message is fit to show. */
export class RdataError extends Error {
  /** The member of `data` that is at fault, where one is. */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.name = "RdataError";
    this.field = field;
  }
}
