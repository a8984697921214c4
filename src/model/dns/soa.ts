import { type Static, Type } from "typebox";
import { PlatformError } from "#kernel/errors/errors.ts";
import { hostnameProblem, parseHostname } from "#kernel/net/hostname.ts";
import { RdataError } from "#wire/dns/errors.ts";
import { escapeLabel } from "#wire/dns/presentation.ts";
import { formatName, parseAbsoluteName } from "#wire/dns/name.ts";

/** The numbers of a zone's SOA record, in seconds (SPEC 2.4). `rule` relates the field to another one. */
export const SOA_NUMBERS = {
  refresh: { default: 10_000, min: 600, max: 86_400, rule: null },
  retry: { default: 2400, min: 600, max: 3600, rule: { at: "most", field: "refresh" } },
  expire: { default: 604_800, min: 86_400, max: 2_419_200, rule: { at: "least", field: "refresh" } },
  ttl: { default: 3600, min: 1800, max: 3600, rule: null },
  min_ttl: { default: 1800, min: 60, max: 86_400, rule: null },
} as const satisfies Readonly<Record<string, SoaNumber>>;

interface SoaNumber {
  readonly default: number;
  readonly min: number;
  readonly max: number;
  readonly rule: { readonly at: "most" | "least"; readonly field: "refresh" } | null;
}

type SoaField = keyof typeof SOA_NUMBERS;
const SOA_FIELDS = Object.keys(SOA_NUMBERS) as SoaField[];

export const SOA_DEFAULTS = {
  refresh: SOA_NUMBERS.refresh.default,
  retry: SOA_NUMBERS.retry.default,
  expire: SOA_NUMBERS.expire.default,
  ttl: SOA_NUMBERS.ttl.default,
  min_ttl: SOA_NUMBERS.min_ttl.default,
};

const seconds = (field: SoaField) => Type.Integer({ minimum: SOA_NUMBERS[field].min, maximum: SOA_NUMBERS[field].max });
// In its longest form, a name of 255 bytes has a backslash and three digits per byte.
const NameText = Type.String({ minLength: 1, maxLength: 1020 });

/** Configurable values of a zone's SOA record. The names have defaults: the zone's first name server, its hostmaster. */
export const Soa = Type.Object({
  mname: Type.Union([NameText, Type.Null()]),
  rname: Type.Optional(
    Type.Union([NameText, Type.Null()], {
      description:
        "An e-mail address, or that address as a DNS name. Null brings the default back; answers leave it out while it is the default.",
    }),
  ),
  refresh: seconds("refresh"),
  retry: seconds("retry"),
  expire: seconds("expire"),
  ttl: seconds("ttl"),
  min_ttl: seconds("min_ttl"),
});
export type Soa = Static<typeof Soa>;
export type SoaChange = Partial<Soa>;

/** The record's values in answers: `rname` as a DNS name. */
export interface SoaValues extends Record<SoaField, number> {
  readonly mname: string;
  readonly rname: string;
}

/**
 * The explicitly set values after the change. Throws `invalid_input` if a name is invalid or two values contradict each
 * other.
 */
export function changeSoa(before: SoaChange, change: SoaChange, pointer: string): SoaChange {
  const { mname, rname } = change;
  const after: SoaChange = {
    ...before,
    ...change,
    ...(typeof mname === "string" ? { mname: hostName(mname, `${pointer}/mname`) } : {}),
    ...(typeof rname === "string" ? { rname: mailbox(rname, `${pointer}/rname`) } : {}),
  };
  const values = { ...SOA_DEFAULTS, ...after };
  for (const field of SOA_FIELDS) {
    const { rule } = SOA_NUMBERS[field];
    if (rule === null) continue;
    const other = values[rule.field];
    const kept = rule.at === "most" ? values[field] <= other : values[field] >= other;
    if (!kept)
      throw new PlatformError("invalid_input", {
        message: `"soa.${field}" is ${values[field]} and must be at ${rule.at} "soa.${rule.field}" (${other}).`,
        source: `${pointer}/${field in change ? field : rule.field}`,
      });
  }
  return after;
}

/** All configurable values, with defaults for those that are not set. */
export function soaView({ rname, ...chosen }: SoaChange): Soa {
  return { mname: null, ...(typeof rname === "string" ? { rname } : {}), ...SOA_DEFAULTS, ...chosen };
}

function hostName(text: string, source: string): string {
  const host = parseHostname(text, { underscores: true });
  if (host === undefined)
    throw new PlatformError("invalid_input", {
      message: `${JSON.stringify(text)} is not a valid host name: ${hostnameProblem(text)}.`,
      source,
    });
  return host;
}

// RFC 5321 §4.1.2, Dot-string; quoted local parts are practically unused.
const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

/** SPEC 2.4: the `@` of an address becomes a dot, and dots before it are escaped, because the local part is one label. */
function mailbox(text: string, source: string): string {
  const at = text.lastIndexOf("@");
  if (at === -1) return mailboxName(text, source);
  const local = text.slice(0, at);
  if (!LOCAL_PART.test(local))
    throw new PlatformError("invalid_input", { message: `${JSON.stringify(text)} is not a valid e-mail address.`, source });
  return mailboxName(`${escapeLabel(Buffer.from(local))}.${hostName(text.slice(at + 1), source)}`, source);
}

/** A label for the local part, and a domain. Mailboxes contain printable ASCII only. */
function mailboxName(text: string, source: string): string {
  try {
    const name = parseAbsoluteName(text);
    const domain = name.subarray(1 + (name[0] ?? 0));
    if (/^[!-~]+$/.test(text) && domain.length > 1) return formatName(name);
  } catch (error) {
    if (!(error instanceof RdataError)) throw error;
  }
  throw new PlatformError("invalid_input", {
    message: `"soa.rname" must be an e-mail address or that address as a DNS name, not ${JSON.stringify(text)}.`,
    source,
  });
}
