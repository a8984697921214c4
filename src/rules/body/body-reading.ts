import type { BodyCause } from "./body-causes.ts";

/** `xml`: the value of an attribute; `element`: a text between two tags. */
export type ArgumentSource = "query" | "form" | "multipart" | "json" | "xml" | "element" | "cookie";

/**
 * A named value of a request as the programs behind the edge may read it. Texts have one char per byte; values in another
 * character set are converted to UTF-8. Most arguments have one reading; a name and a value have at most three each.
 */
export interface Argument {
  readonly source: ArgumentSource;
  /** Decoded. In JSON the name of the member; empty for items and for values without a name. */
  readonly name: string;
  /** Decoded. Empty for JSON members that are objects or arrays. */
  readonly value: string;
  readonly otherNames: readonly string[];
  readonly otherValues: readonly string[];
  /**
   * In JSON the names on the way to the member, joined by dots, without array indexes, cut at 200 characters; elsewhere
   * the name.
   */
  readonly path: string;
}

/** A part of a multipart body with a file name; programs differ in which of these are files. */
export interface BodyFile {
  readonly name: string;
  readonly otherNames: readonly string[];
  readonly filenames: readonly string[];
  /** The type that the part names; empty without one. */
  readonly type: string;
  readonly text: string;
}

/** A part of a multipart body as it was sent; lists of missing fields are empty. */
export interface Part {
  readonly names: readonly string[];
  readonly filenames: readonly string[];
  readonly types: readonly string[];
  readonly dispositions: readonly string[];
  readonly encodings: readonly string[];
  /** The lines of its head. */
  readonly lines: readonly string[];
  readonly value: string;
  /** The value decoded by its Content-Transfer-Encoding or character set, if that differs. */
  readonly otherValues: readonly string[];
}

/** Everything that programs behind the edge may find in a request's body, and the reasons why they may find something else. */
export interface BodyReading {
  readonly kind: BodyKind;
  /** The body with its content codings decoded; as it was sent if it has none, or if that is impossible. */
  readonly text: string;
  readonly args: readonly Argument[];
  readonly files: readonly BodyFile[];
  /** Of multipart bodies, without nested parts. */
  readonly parts: readonly Part[];
  /** The texts of an XML document: with nothing in place of its tags, and with spaces. */
  readonly xml: readonly string[];
  /** The contents of an XML document, once: its text with spaces for tags, its markup, and the text around tags inside words. */
  readonly pieces: readonly string[];
  /**
   * Texts to inspect as a whole: bodies that are neither form nor multipart nor JSON nor XML, and texts that programs may
   * read differently.
   */
  readonly texts: readonly string[];
  readonly causes: ReadonlySet<BodyCause>;
}

export type BodyKind = "none" | "form" | "multipart" | "json" | "xml" | "text" | "binary";

/** A reading under construction. */
export interface Findings {
  readonly args: Argument[];
  readonly files: BodyFile[];
  readonly parts: Part[];
  readonly xml: string[];
  readonly pieces: string[];
  readonly texts: string[];
  readonly causes: Set<BodyCause>;
}

export const createFindings = (): Findings => ({ args: [], files: [], parts: [], xml: [], pieces: [], texts: [], causes: new Set() });

/** Steps of an argument of any length. */
export const ARGUMENT_STEPS = 300;

export const NO_READINGS: readonly string[] = [];

/** An argument with one reading. */
export const plainArgument = (source: ArgumentSource, name: string, value: string, path = name): Argument => ({
  source,
  name,
  value,
  otherNames: NO_READINGS,
  otherValues: NO_READINGS,
  path,
});
