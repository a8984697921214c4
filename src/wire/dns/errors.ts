/** Why bytes from the network are malformed. Each causes the response FORMERR. */
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

/** The only error that decoders throw on malformed bytes. */
export class WireError extends Error {
  readonly code: WireFault;

  constructor(code: WireFault) {
    super(`malformed DNS data: ${code.replaceAll("_", " ")}`);
    this.name = "WireError";
    this.code = code;
  }
}

/** A record's value from a person or client that cannot be stored. The message can be displayed. */
export class RdataError extends Error {
  /** The member of `data` at fault, if any. */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.name = "RdataError";
    this.field = field;
  }
}
