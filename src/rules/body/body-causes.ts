/** A reason why a program behind the edge may read a body differently from the rules. */
export interface BodyCauseRow {
  readonly title: string;
  /** Advice for a client that is not an attacker. */
  readonly hint: string;
  /**
   * Whether a part of the body may be unread: parts that readers separate differently, or that could not be read. Other
   * causes are unusual, but everything in them was read.
   */
  readonly isUnread: boolean;
}

/**
 * Each cause is a rule of both managed rulesets for requests and makes `http.request.body.truncated` true. Names never
 * change.
 */
export const BODY_CAUSES = {
  size: {
    title: "A body that is longer than the part that rules read",
    hint: "raise edge.rule_body_bytes_max, or refuse long bodies where none belong",
    isUnread: false,
  },
  "content-type": {
    title: "A Content-Type that programs interpret differently",
    hint: "send one Content-Type: a type, then parameters after semicolons",
    isUnread: true,
  },
  boundary: {
    title: "A multipart body whose boundary programs interpret differently",
    hint: "send one boundary parameter, of 1 to 70 characters of RFC 2046",
    isUnread: true,
  },
  delimiters: {
    title: "A multipart body that programs split into different parts",
    hint: "put each delimiter on its own line, ended by CR LF, and choose a boundary that occurs nowhere else",
    isUnread: true,
  },
  end: {
    title: "A multipart body without its final delimiter, or with data after it",
    hint: "end the body with the boundary between two pairs of dashes",
    isUnread: true,
  },
  "part-head": {
    title: "A part of a multipart body whose header programs interpret differently",
    hint: "send at most 16 header lines in a part, each a name, a colon and a value, ended by CR LF",
    isUnread: true,
  },
  disposition: {
    title: "A part of a multipart body whose name programs interpret differently",
    hint: "send one Content-Disposition in each part: form-data, one name, and at most one filename",
    isUnread: true,
  },
  charset: {
    title: "A body in a character set in which ASCII is not ASCII",
    hint: "send UTF-8",
    isUnread: true,
  },
  coding: {
    title: "A compressed body that cannot be decompressed to its end",
    hint: "send one complete gzip, deflate, br or zstd body and nothing after it",
    isUnread: true,
  },
  "coding-unknown": {
    title: "A body with an unsupported content coding",
    hint: "send gzip, deflate, br or zstd, or no Content-Encoding",
    isUnread: false,
  },
  "json-invalid": {
    title: "A JSON body that is not valid JSON",
    hint: "send one JSON document (RFC 8259); lines of JSON as application/x-ndjson",
    isUnread: true,
  },
  "json-repeated": {
    title: "A JSON body in which an object contains a name twice",
    hint: "send each name once: some programs take the first value, others the last",
    isUnread: false,
  },
  "json-charset": {
    title: "A JSON body in UTF-16 or UTF-32",
    hint: "send UTF-8 (RFC 8259 §8.1)",
    isUnread: true,
  },
  "json-utf8": {
    title: "A JSON body that is not valid UTF-8",
    hint: "send UTF-8 (RFC 8259 §8.1)",
    isUnread: false,
  },
  "json-bom": {
    title: "A JSON body with a byte order mark",
    hint: "leave out the mark (RFC 8259 §8.1)",
    isUnread: false,
  },
  "json-depth": {
    title: "A JSON body that is nested too deeply",
    hint: "nest at most 512 objects and arrays",
    isUnread: true,
  },
  "xml-invalid": {
    title: "An XML body that ends within a tag, a comment or a section",
    hint: "send a complete document",
    isUnread: true,
  },
  "xml-doctype": {
    title: "An XML body with a document type",
    hint: "leave out DOCTYPE: it can make programs fetch any URL",
    isUnread: false,
  },
  "xml-declarations": {
    title: "An XML body that declares entities or attributes",
    hint: "leave declarations out of DOCTYPE: they put text where none was sent",
    isUnread: true,
  },
  "xml-charset": {
    title: "An XML body in a character set in which ASCII is not ASCII",
    hint: "send UTF-8",
    isUnread: true,
  },
} as const satisfies Readonly<Record<string, BodyCauseRow>>;

export type BodyCause = keyof typeof BODY_CAUSES;

export const BODY_CAUSE_NAMES = Object.keys(BODY_CAUSES) as readonly BodyCause[];
