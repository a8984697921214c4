/** A name and a value, decoded; texts have one char a byte. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** A request as rules see it, with the body parsed by the caller. */
export interface TransactionRequest {
  readonly method: string;
  /** As it was sent, query included. */
  readonly target: string;
  /** Such as HTTP/1.1. */
  readonly protocol: string;
  readonly line: string;
  /** With the names as sent. */
  readonly headers: readonly NamedValue[];
  readonly cookies: readonly NamedValue[];
  /** Arguments of the query. */
  readonly queryArguments: readonly NamedValue[];
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly serverAddress: string;
  readonly serverName: string;
  readonly serverPort: number;
  readonly uniqueId: string;
  /** When it came, in milliseconds. */
  readonly timeMs: number;
  /** Two letters, or empty. */
  readonly country: string;
  /** URLENCODED, MULTIPART, JSON or XML, from the content type; otherwise empty. */
  readonly bodyProcessor: string;
  /** Called once before phase 2, because rules of phase 1 may choose another processor. */
  readonly readBody: (processor: string) => TransactionBody;
}

export interface TransactionBody {
  readonly text: string;
  /** Bytes of the whole body, even if `text` is shorter. */
  readonly bytes: number;
  readonly bodyArguments: readonly NamedValue[];
  readonly files: readonly TransactionFile[];
  /** Whole header lines of parts, by the name of the part. */
  readonly partHeaders: readonly NamedValue[];
  readonly xmlTexts: readonly string[];
  readonly xmlAttributes: readonly string[];
  /** Why it could not be read completely; empty without an error. */
  readonly error: string;
  /** Names of variables such as MULTIPART_UNMATCHED_BOUNDARY that are 1. */
  readonly flags: ReadonlySet<string>;
}

export interface TransactionFile {
  /** Name of the part. */
  readonly name: string;
  readonly filename: string;
  readonly bytes: number;
}

/** A response as rules see it; its body is empty if it is not buffered. */
export interface TransactionResponse {
  readonly status: number;
  readonly protocol: string;
  readonly headers: readonly NamedValue[];
  readonly body: string;
}

export const NO_BODY: TransactionBody = {
  text: "",
  bytes: 0,
  bodyArguments: [],
  files: [],
  partHeaders: [],
  xmlTexts: [],
  xmlAttributes: [],
  error: "",
  flags: new Set(),
};
