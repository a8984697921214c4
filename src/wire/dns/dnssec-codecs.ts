import { RdataError } from "./errors.ts";
import { type FieldCodec, u16, u32 } from "./field-codecs.ts";
import { typeBitmap, typesOf } from "./type-bitmap.ts";

/** Names of record types, in both directions. */
export interface TypeNames {
  nameOf(code: number): string;
  /** Undefined for an unknown name. */
  codeOf(name: string): number | undefined;
}

const typeCodec = ({ nameOf, codeOf }: TypeNames) => {
  const check = (text: unknown): number => {
    const code = typeof text === "string" ? codeOf(text) : undefined;
    if (code === undefined) throw new RdataError("must be a record type");
    return code;
  };
  return { check, nameOf };
};

/** A record type, written as its name. */
export function recordTypeCodec(names: TypeNames): FieldCodec<number> {
  const { check, nameOf } = typeCodec(names);
  return { ...u16, parse: ([token]) => check(token?.raw), format: nameOf, fromData: check, toData: nameOf };
}

/** Record types by name, up to the end of the RDATA (RFC 4034 §4.2). */
export function recordTypesCodec(names: TypeNames): FieldCodec<readonly number[]> {
  const { check, nameOf } = typeCodec(names);
  const fromData = (value: unknown): number[] => {
    if (!Array.isArray(value)) throw new RdataError("must be a list of record types");
    return value.map(check);
  };
  return {
    greedy: true,
    read: (reader) => typesOf(reader.rest()),
    bytes: typeBitmap,
    parse: (tokens) => tokens.map(({ raw }) => check(raw)),
    format: (types) => types.map(nameOf).join(" "),
    fromData,
    toData: (types) => types.map(nameOf),
  };
}

/** A time as `YYYYMMDDHHmmSS` in UTC, in the 136 years from 1970 (RFC 4034 §3.2). */
export const timestamp: FieldCodec<number> = {
  ...u32,
  parse: ([token]) => parseTime(token?.raw),
  format: (seconds) => new Date(seconds * 1000).toISOString().replace(/\.\d+Z$|\D/g, ""),
  fromData: parseTime,
  toData: (seconds) => timestamp.format(seconds),
};

function parseTime(text: unknown): number {
  const parts = typeof text === "string" ? /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(text) : null;
  const [, year, month, day, hour, minute, second] = parts ?? [];
  const seconds = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) / 1000;
  if (!(seconds >= 0 && seconds < 2 ** 32) || timestamp.format(seconds) !== text) throw new RdataError("must be a time as YYYYMMDDHHmmSS");
  return seconds;
}
