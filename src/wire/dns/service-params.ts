import { isUtf8 } from "node:buffer";
import { formatIp, parseIp } from "#kernel/net/ip.ts";
import { RdataError, WireError } from "./errors.ts";
import type { FieldCodec } from "./field-codecs.ts";
import { type Token, quoteBytes, tokenize, unescapeText } from "./presentation.ts";

interface ServiceParam {
  readonly key: number;
  readonly value: Buffer;
}

/** The format of a registered parameter's value (RFC 9460 §7, RFC 9461, RFC 9540). */
interface ParamRow {
  readonly name: string;
  /** `text` has been unescaped once; undefined if the parameter has no `=`. */
  encode(text: Buffer | undefined): Buffer;
  /** Null if it is shown without a value. Throws WireError if the value violates the parameter's rules. */
  format(value: Buffer): string | null;
}

const PARAMS_BYTES_MAX = 65_535;

const needText = (text: Buffer | undefined): Buffer => {
  if (text === undefined || text.length === 0) throw new RdataError("has a parameter without its value");
  return text;
};

/** Splits at commas; a backslash escapes the next byte (RFC 9460 appendix A.1). */
function splitList(text: Buffer): Buffer[] {
  const items: number[][] = [[]];
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte === 0x2c) items.push([]);
    else if (byte === 0x5c && at + 1 < text.length) items.at(-1)?.push(text[(at += 1)] as number);
    else items.at(-1)?.push(byte);
  }
  if (items.some((item) => item.length === 0)) throw new RdataError("has an empty item in a list");
  return items.map((item) => Buffer.from(item));
}

const joinList = (items: readonly Buffer[]): string => {
  const bytes = items.flatMap((item, index) => [
    ...(index === 0 ? [] : [0x2c]),
    ...[...item].flatMap((byte) => (byte === 0x2c || byte === 0x5c ? [0x5c, byte] : [byte])),
  ]);
  return quoteBytes(Buffer.from(bytes));
};

const alpn: ParamRow = {
  name: "alpn",
  encode: (text) =>
    Buffer.concat(
      splitList(needText(text)).map((id) => {
        if (id.length > 255) throw new RdataError("has a protocol name longer than 255 bytes");
        return Buffer.concat([Buffer.of(id.length), id]);
      }),
    ),
  format: (value) => {
    const ids: Buffer[] = [];
    for (let at = 0; at < value.length;) {
      const next = at + 1 + (value[at] as number);
      if (next === at + 1 || next > value.length) throw new WireError("bad_rdata");
      ids.push(value.subarray(at + 1, next));
      at = next;
    }
    if (ids.length === 0) throw new WireError("bad_rdata");
    return joinList(ids);
  },
};

const flag = (name: string): ParamRow => ({
  name,
  encode: (text) => {
    if (text !== undefined && text.length > 0) throw new RdataError(`has a value for ${name}, which takes none`);
    return Buffer.alloc(0);
  },
  format: (value) => {
    if (value.length > 0) throw new WireError("bad_rdata");
    return null;
  },
});

const hints = (name: string, family: 4 | 6): ParamRow => {
  const length = family === 4 ? 4 : 16;
  return {
    name,
    encode: (text) =>
      Buffer.concat(
        splitList(needText(text)).map((item) => {
          const parsed = parseIp(item.toString("latin1"));
          if (parsed?.family !== family) throw new RdataError(`has an address in ${name} that is not valid`);
          return parsed.bytes;
        }),
      ),
    format: (value) => {
      if (value.length === 0 || value.length % length !== 0) throw new WireError("bad_rdata");
      const texts = Array.from({ length: value.length / length }, (_, i) =>
        formatIp({ family, bytes: value.subarray(i * length, (i + 1) * length) }),
      );
      return `"${texts.join(",")}"`;
    },
  };
};

const port: ParamRow = {
  name: "port",
  encode: (text) => {
    const digits = needText(text).toString("latin1");
    if (!/^\d{1,5}$/.test(digits) || Number(digits) > 65_535) throw new RdataError("has a port that is not from 0 to 65535");
    return Buffer.of(Number(digits) >> 8, Number(digits) & 0xff);
  },
  format: (value) => {
    if (value.length !== 2) throw new WireError("bad_rdata");
    return `"${value.readUInt16BE(0)}"`;
  },
};

/** A list of at least four bytes after its own length (RFC 9848 §3). */
const isEchConfigList = (value: Buffer): boolean => value.length >= 6 && value.readUInt16BE(0) === value.length - 2;

const ech: ParamRow = {
  name: "ech",
  encode: (text) => {
    const written = needText(text).toString("latin1");
    const value = BASE64.test(written) ? Buffer.from(written, "base64") : Buffer.alloc(0);
    if (!isEchConfigList(value)) throw new RdataError("has an ech value that is not an ECHConfigList in base64");
    return value;
  },
  format: (value) => {
    if (!isEchConfigList(value)) throw new WireError("bad_rdata");
    return `"${value.toString("base64")}"`;
  },
};

// linear: pumped
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** RFC 9461 §5: a relative URI template in UTF-8 with the variable `dns`. */
function isDohPath(value: Buffer): boolean {
  if (value[0] !== 0x2f || !isUtf8(value)) return false;
  const expressions = value.toString("utf8").matchAll(/\{([^{}]*)\}/g);
  return [...expressions].some(([, list = ""]) =>
    list
      .replace(/^[+#./;?&]/, "")
      .split(",")
      .includes("dns"),
  );
}

const dohpath: ParamRow = {
  name: "dohpath",
  encode: (text) => {
    const value = needText(text);
    if (!isDohPath(value)) throw new RdataError("has a dohpath that is no path with the variable dns, such as /dns-query{?dns}");
    return value;
  },
  format: (value) => {
    if (!isDohPath(value)) throw new WireError("bad_rdata");
    return quoteBytes(value);
  },
};

const opaque = (name: string): ParamRow => ({
  name,
  encode: (text) => text ?? Buffer.alloc(0),
  format: (value) => (value.length === 0 ? null : quoteBytes(value)),
});

/** By number; other names and numbers are opaque (`key65400`). */
const ROWS: readonly (ParamRow | undefined)[] = [
  undefined, // mandatory, which refers to the others
  alpn,
  flag("no-default-alpn"),
  port,
  hints("ipv4hint", 4),
  ech,
  hints("ipv6hint", 6),
  dohpath,
  flag("ohttp"),
];

const MANDATORY = 0;

function keyNumber(name: string): number {
  if (name === "mandatory") return MANDATORY;
  const known = ROWS.findIndex((row) => row?.name === name);
  if (known >= 0) return known;
  const digits = /^key(0|[1-9]\d{0,4})$/.exec(name)?.[1];
  // 65535 is reserved as invalid (RFC 9460 §14.3.2).
  if (digits === undefined || Number(digits) > 65_534) throw new RdataError(`has an unknown parameter ${JSON.stringify(name)}`);
  return Number(digits);
}

const keyName = (key: number): string => (key === MANDATORY ? "mandatory" : (ROWS[key]?.name ?? `key${key}`));

function encodeMandatory(text: Buffer | undefined): Buffer {
  const keys = splitList(needText(text)).map((item) => keyNumber(item.toString("latin1")));
  const sorted = [...new Set(keys)].sort((a, b) => a - b);
  if (sorted.length !== keys.length || sorted[0] === MANDATORY)
    throw new RdataError("has a mandatory list that repeats a key or names itself");
  return Buffer.concat(sorted.map((key) => Buffer.of(key >> 8, key & 0xff)));
}

function mandatoryKeys(value: Buffer): number[] {
  if (value.length === 0 || value.length % 2 !== 0) throw new WireError("bad_rdata");
  return Array.from({ length: value.length / 2 }, (_, i) => value.readUInt16BE(i * 2));
}

/** Rules for the combination of parameters (RFC 9460 §8): mandatory ones must exist, no-default-alpn requires alpn. */
function conflict(params: readonly ServiceParam[]): string | undefined {
  const keys = new Set(params.map((param) => param.key));
  const mandatory = params[0]?.key === MANDATORY ? mandatoryKeys(params[0].value) : [];
  const absent = mandatory.find((key) => !keys.has(key));
  if (absent !== undefined) return `does not carry the mandatory parameter ${keyName(absent)}`;
  if (keys.has(2) && !keys.has(1)) return "has no-default-alpn without alpn";
  return undefined;
}

function parseParams(tokens: readonly Token[]): ServiceParam[] {
  const params = tokens.map((token) => {
    if (token.quoted) throw new RdataError("has a parameter in quotes");
    const equals = token.raw.indexOf("=");
    const key = keyNumber((equals < 0 ? token.raw : token.raw.slice(0, equals)).toLowerCase());
    const written = equals < 0 ? undefined : token.raw.slice(equals + 1);
    const text = written === undefined ? undefined : unescapeText(written.startsWith('"') ? written.slice(1, -1) : written);
    return { key, value: key === MANDATORY ? encodeMandatory(text) : (ROWS[key] ?? opaque("")).encode(text) };
  });
  params.sort((a, b) => a.key - b.key);
  if (params.some((param, i) => param.key === params[i - 1]?.key)) throw new RdataError("has the same parameter twice");
  const reason = conflict(params);
  if (reason !== undefined) throw new RdataError(reason);
  return params;
}

function formatParam({ key, value }: ServiceParam): string {
  const text = key === MANDATORY ? `"${mandatoryKeys(value).map(keyName).join(",")}"` : (ROWS[key] ?? opaque("")).format(value);
  return text === null ? keyName(key) : `${keyName(key)}=${text}`;
}

/** Parameters of SVCB and HTTPS records, sorted by number (RFC 9460 §2.2). */
export const serviceParams: FieldCodec<readonly ServiceParam[]> = {
  greedy: true,
  read: (reader) => {
    const params: ServiceParam[] = [];
    while (!reader.done) {
      const key = reader.u16();
      if (key <= (params.at(-1)?.key ?? -1)) throw new WireError("bad_rdata");
      const param = { key, value: reader.take(reader.u16()) };
      formatParam(param);
      params.push(param);
    }
    if (conflict(params) !== undefined) throw new WireError("bad_rdata");
    return params;
  },
  bytes: (value) => {
    const bytes = Buffer.concat(
      value.flatMap((param) => [
        Buffer.of(param.key >> 8, param.key & 0xff, param.value.length >> 8, param.value.length & 0xff),
        param.value,
      ]),
    );
    if (bytes.length > PARAMS_BYTES_MAX || value.some((param) => param.value.length > PARAMS_BYTES_MAX))
      throw new RdataError("is too long");
    return bytes;
  },
  parse: (tokens) => parseParams(tokens),
  format: (value) => value.map(formatParam).join(" "),
  fromData: (value) => {
    if (typeof value !== "string") throw new RdataError("must be a string");
    return parseParams(tokenize(value));
  },
  toData: (value) => value.map(formatParam).join(" "),
};
