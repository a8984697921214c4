import type { BodyCause } from "./body-causes.ts";

export type ArgumentSource = "query" | "form" | "multipart" | "json" | "xml" | "cookie";

/**
 * A named value of a request as the programs behind the edge may read it. Texts have one char for each byte; what was sent in another
 * character set is UTF-8. Most arguments have one reading, and none has more than three of its name or of its value.
 */
export interface Argument {
  readonly source: ArgumentSource;
  /** Decoded. Of JSON the member's own name; empty for items and for what has none. */
  readonly name: string;
  /** Decoded. Empty for JSON members that hold an object or an array. */
  readonly value: string;
  readonly otherNames: readonly string[];
  readonly otherValues: readonly string[];
  /** Of JSON the names that lead there with dots between, without places in arrays, cut at 200 characters; elsewhere the name. */
  readonly path: string;
}

/** A part of a multipart body that has a file name; programs differ in which of these are files. */
export interface BodyFile {
  readonly name: string;
  readonly filenames: readonly string[];
  /** As the part says; empty without. */
  readonly type: string;
  readonly text: string;
}

/** A part of a multipart body as it was sent; of what it has none of, the list is empty. */
export interface Part {
  readonly names: readonly string[];
  readonly filenames: readonly string[];
  readonly types: readonly string[];
  readonly dispositions: readonly string[];
  readonly encodings: readonly string[];
  readonly value: string;
  /** What a Content-Transfer-Encoding or a character set makes of the value, where that is something else. */
  readonly otherValues: readonly string[];
}

/** Everything that programs behind the edge may find in a request's body, and why they may find something else. */
export interface BodyReading {
  readonly kind: BodyKind;
  /** The body with its content codings undone; as it was sent where it has none, or where that is impossible. */
  readonly text: string;
  readonly args: readonly Argument[];
  readonly files: readonly BodyFile[];
  /** Of multipart bodies, without those within parts. */
  readonly parts: readonly Part[];
  /** The texts of an XML document: with nothing in place of its tags, and with spaces. */
  readonly xml: readonly string[];
  /** All that an XML document has in it, once: its text with spaces for tags, its markup, and what tags stand within a word of. */
  readonly pieces: readonly string[];
  /** Texts to be looked at as a whole: what is neither form nor parts nor JSON nor XML, and what programs may read differently. */
  readonly texts: readonly string[];
  readonly causes: ReadonlySet<BodyCause>;
}

export type BodyKind = "none" | "form" | "multipart" | "json" | "xml" | "text" | "binary";

/** A reading under way. */
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

/** What an argument costs, however short it is. */
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
