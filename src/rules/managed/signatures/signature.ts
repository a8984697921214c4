/** Where a signature looks; several may be joined with `|`. */
export const PATH = 1;
/** Names and values of query, form, parts and JSON. */
export const ARGUMENTS = 2;
export const COOKIES = 4;
/** Values of header fields but for those that have a place of their own or none. */
export const HEADERS = 8;
export const AGENT = 16;
/** Names of uploaded files. */
export const FILES = 32;
/** Bodies that are neither form nor parts nor JSON. */
export const BODY = 64;
/** What a visitor can put a value into. */
export const INPUT = ARGUMENTS | COOKIES | BODY;

/** How a value is read (normalise.ts): as it is, without SQL's comments, as a path, as a shell's words. */
export type Reading = "plain" | "sql" | "path" | "shell";

export type AttackCategory =
  | "sqli"
  | "xss"
  | "lfi"
  | "rfi-ssrf"
  | "rce"
  | "template-injection"
  | "php"
  | "java"
  | "nodejs"
  | "nosql-ldap-xml"
  | "scanner"
  | "upload"
  | "protocol";

/** A pattern for one kind of attack. Its slug never changes: rule ids are made of it. */
export interface Signature {
  readonly slug: string;
  readonly title: string;
  readonly category: AttackCategory;
  /** In Rust's syntax, over normalised text: lower case, single spaces. Proven to take linear time. */
  readonly pattern: string;
  /** Every match has one of them in it. */
  readonly needs: readonly string[];
  readonly targets: number;
  readonly reading: Reading;
  /** From which level of paranoia on it counts (1 to 4). */
  readonly paranoia: 1 | 2 | 3 | 4;
  /** How much it adds to a request's score. */
  readonly score: number;
  /** Certain enough to decide by itself. */
  readonly isCertain: boolean;
  /** Values that it finds, and values that look alike and are harmless, before any encoding. */
  readonly hits: readonly string[];
  readonly misses: readonly string[];
}
