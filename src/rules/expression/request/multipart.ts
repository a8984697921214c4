import type { BodyReading } from "#rules/body/body-reading.ts";
import { namedValues, type NamedValues } from "./request-parts.ts";

type Texts = readonly string[];

/** A multipart body, part by part; a missing field of a part is an empty list. */
export interface Multipart {
  readonly byName: NamedValues;
  readonly names: readonly Texts[];
  readonly values: Texts;
  readonly types: readonly Texts[];
  readonly dispositions: readonly Texts[];
  readonly encodings: readonly Texts[];
  readonly filenames: readonly Texts[];
}

/** The parts of a body as fields show them; undefined for bodies that are not multipart or have no boundary. */
export function multipartOf({ kind, parts, causes }: BodyReading): Multipart | undefined {
  if (kind !== "multipart" || (parts.length === 0 && causes.has("boundary"))) return undefined;
  const named = parts.flatMap(({ names, value, otherValues }) =>
    names.flatMap((name) => [value, ...otherValues].map((one) => [name, one] as const)),
  );
  return {
    byName: namedValues(
      named.map(([name]) => name),
      named.map(([, value]) => value),
    ),
    names: parts.map(({ names }) => names),
    values: parts.map(({ value }) => value),
    types: parts.map(({ types }) => types),
    dispositions: parts.map(({ dispositions }) => dispositions),
    encodings: parts.map(({ encodings }) => encodings),
    filenames: parts.map(({ filenames }) => filenames),
  };
}
