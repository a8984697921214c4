import type { Clock } from "#kernel/clock.ts";
import { OPTION } from "#wire/dns/codes.ts";
import { OPT_BYTES } from "#wire/dns/message.ts";
import type { Query } from "#wire/dns/query.ts";
import type { Client } from "./client.ts";
import { CLIENT_COOKIE_BYTES, type Cookies, COOKIE_BYTES, isCookieLength } from "./cookies.ts";
import type { Reply } from "./exchange.ts";

/** What one client is told by EDNS options besides the answer, which is the same for all. */
export interface ClientOptions {
  /** Whole options, one behind the other. */
  readonly bytes: Buffer;
  /** Responses are filled up to multiples of this, so that their length tells no name; 0: they are not. */
  readonly paddingBlockBytes: number;
  /** The client has a cookie of ours: it really is at its address. */
  readonly isKnown: boolean;
  /** The client has a server cookie, but none of ours, or none any more. */
  readonly isForeign: boolean;
  /** The client's options are not what their RFCs say. */
  readonly isMalformed: boolean;
}

export type ReadClientOptions = (query: Query, client: Client) => ClientOptions;

export interface ClientOptionsDeps {
  readonly cookies: Cookies;
  /** This server's name for those who ask for it (RFC 5001); empty: nobody is told. */
  readonly nsid: string;
  readonly clock: Clock;
}

/** Code and length of an option. */
export const OPTION_HEAD_BYTES = 4;
export const COOKIE_OPTION_BYTES = OPTION_HEAD_BYTES + COOKIE_BYTES;
/** RFC 8467 §4.1. */
const RESPONSE_PADDING_BLOCK_BYTES = 468;

const NONE = Buffer.alloc(0);
export const NO_CLIENT_OPTIONS: ClientOptions = { bytes: NONE, paddingBlockBytes: 0, isKnown: false, isForeign: false, isMalformed: false };
const MALFORMED: ClientOptions = { ...NO_CLIENT_OPTIONS, isMalformed: true };

export function createClientOptions({ cookies, nsid, clock }: ClientOptionsDeps): ReadClientOptions {
  const nsidBytes = Buffer.from(nsid);
  const nsidOption = nsidBytes.length === 0 ? NONE : Buffer.concat([head(OPTION.NSID, nsidBytes.length), nsidBytes]);

  return ({ edns }, { transport, address }) => {
    if (!edns) return NO_CLIENT_OPTIONS;
    const { cookie } = edns;
    if (cookie && !isCookieLength(cookie.length)) return MALFORMED;
    const bytes = edns.asksNsid ? nsidOption : NONE;
    // Where anybody can read along there is nothing to hide (RFC 8467 §3).
    const isEncrypted = transport === "dot" || transport === "doh";
    const paddingBlockBytes = edns.hasPadding && isEncrypted ? RESPONSE_PADDING_BLOCK_BYTES : 0;
    if (!cookie) return { ...NO_CLIENT_OPTIONS, bytes, paddingBlockBytes };
    const option = Buffer.alloc(COOKIE_OPTION_BYTES);
    const isKnown = writeCookieOption(cookies, cookie, 0, cookie.length, address, 0, address.length, clock.nowMs(), option, 0);
    const isForeign = !isKnown && cookie.length > CLIENT_COOKIE_BYTES;
    return { bytes: Buffer.concat([option, bytes]), paddingBlockBytes, isKnown, isForeign, isMalformed: false };
  };
}

/** The option that answers a cookie; arguments and result as of Cookies. */
export function writeCookieOption(
  cookies: Cookies,
  from: Uint8Array,
  start: number,
  length: number,
  addresses: Uint8Array,
  addressStart: number,
  addressBytes: number,
  nowMs: number,
  out: Uint8Array,
  outStart: number,
): boolean {
  out[outStart] = 0;
  out[outStart + 1] = OPTION.COOKIE;
  out[outStart + 2] = 0;
  out[outStart + 3] = COOKIE_BYTES;
  const seconds = Math.floor(nowMs / 1000);
  return cookies.answer(from, start, length, addresses, addressStart, addressBytes, seconds, out, outStart + OPTION_HEAD_BYTES);
}

/** The response with the client's options behind those that it has. */
export function withOptions({ bytes, optStart }: Reply, options: ClientOptions, bytesMax: number): Buffer {
  if (optStart === 0) return bytes;
  const padding = paddingOption(bytes.length + options.bytes.length, options.paddingBlockBytes, bytesMax);
  if (options.bytes.length + padding.length === 0) return bytes;
  const whole = Buffer.concat([bytes, options.bytes, padding]);
  addToOptions(whole, optStart, options.bytes.length + padding.length);
  return whole;
}

/** Says in the OPT record that starts at `optStart` that so many bytes of options more stand in it. */
export function addToOptions(message: Uint8Array, optStart: number, bytes: number): void {
  const at = optStart + OPT_BYTES - 2;
  const length = (((message[at] as number) << 8) | (message[at + 1] as number)) + bytes;
  message[at] = length >> 8;
  message[at + 1] = length;
}

function paddingOption(bytes: number, blockBytes: number, bytesMax: number): Buffer {
  if (blockBytes === 0) return NONE;
  const unpadded = bytes + OPTION_HEAD_BYTES;
  if (unpadded > bytesMax) return NONE;
  const length = Math.min(Math.ceil(unpadded / blockBytes) * blockBytes, bytesMax) - unpadded;
  return Buffer.concat([head(OPTION.PADDING, length), Buffer.alloc(length)]);
}

function head(code: number, length: number): Buffer {
  const bytes = Buffer.alloc(OPTION_HEAD_BYTES);
  bytes.writeUInt16BE(code, 0);
  bytes.writeUInt16BE(length, 2);
  return bytes;
}
