import type { Clock } from "#kernel/clock.ts";
import { OPTION } from "#wire/dns/codes.ts";
import { OPT_BYTES } from "#wire/dns/message.ts";
import type { Query } from "#wire/dns/query.ts";
import type { Client } from "./client.ts";
import type { NameserverLimits } from "#nameserver/config.ts";
import { CLIENT_COOKIE_BYTES, type Cookies, COOKIE_BYTES, isCookieLength } from "./cookies.ts";
import type { Reply } from "./reply.ts";

/** The EDNS options in the response to one client; the rest of a response is the same for all. */
export interface ClientOptions {
  /** Encoded options, one after the other. */
  readonly bytes: Buffer;
  /** Responses are padded to multiples of this, so that their length does not reveal the name; 0: no padding. */
  readonly paddingBlockBytes: number;
  /** The client sent a valid server cookie, so its address is genuine. */
  readonly isKnown: boolean;
  /** The client sent a server cookie that is not valid, or no longer. */
  readonly isForeign: boolean;
  /** The client's options violate their RFCs. */
  readonly isMalformed: boolean;
}

export type ReadClientOptions = (query: Query, client: Client) => ClientOptions;

export interface ClientOptionsDeps {
  readonly cookies: Cookies;
  /** This server's identifier for NSID (RFC 5001). Empty: not sent. */
  readonly nsid: string;
  readonly limits: Pick<NameserverLimits, "tcpIdleTimeoutMs">;
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

export function createClientOptions({ cookies, nsid, limits, clock }: ClientOptionsDeps): ReadClientOptions {
  const nsidOption = nsid === "" ? NONE : option(OPTION.NSID, Buffer.from(nsid));
  const keepaliveOption = option(OPTION.TCP_KEEPALIVE, tenthsOfSeconds(limits.tcpIdleTimeoutMs));

  return ({ edns }, { transport, address }) => {
    if (!edns) return NO_CLIENT_OPTIONS;
    const { cookie } = edns;
    if (cookie && !isCookieLength(cookie.length)) return MALFORMED;
    // DoH uses the idle timeout of HTTP, and UDP has none (RFC 7828 §3.2.1).
    const isOwnConnection = transport === "tcp" || transport === "dot";
    const bytes = Buffer.concat([edns.asksNsid ? nsidOption : NONE, edns.asksKeepalive && isOwnConnection ? keepaliveOption : NONE]);
    // Padding is useless on an unencrypted transport (RFC 8467 §3).
    const isEncrypted = transport === "dot" || transport === "doh";
    const paddingBlockBytes = edns.hasPadding && isEncrypted ? RESPONSE_PADDING_BLOCK_BYTES : 0;
    if (!cookie) return { ...NO_CLIENT_OPTIONS, bytes, paddingBlockBytes };
    const both = Buffer.alloc(COOKIE_OPTION_BYTES);
    const isKnown = writeCookieOption(cookies, cookie, 0, cookie.length, address, 0, address.length, clock.nowMs(), both, 0);
    const isForeign = !isKnown && cookie.length > CLIENT_COOKIE_BYTES;
    return { bytes: Buffer.concat([both, bytes]), paddingBlockBytes, isKnown, isForeign, isMalformed: false };
  };
}

/** Writes the option that answers a cookie; arguments and result as of Cookies. */
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

/** The response with the client's options after its own. */
export function withOptions({ bytes, optStart }: Reply, options: ClientOptions, bytesMax: number): Buffer {
  if (optStart === 0) return bytes;
  const padding = paddingOption(bytes.length + options.bytes.length, options.paddingBlockBytes, bytesMax);
  if (options.bytes.length + padding.length === 0) return bytes;
  const whole = Buffer.concat([bytes, options.bytes, padding]);
  addToOptions(whole, optStart, options.bytes.length + padding.length);
  return whole;
}

/** Adds so many bytes to the option length of the OPT record at `optStart`. */
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
  return option(OPTION.PADDING, Buffer.alloc(length));
}

function option(code: number, data: Buffer): Buffer {
  const head = Buffer.alloc(OPTION_HEAD_BYTES);
  head.writeUInt16BE(code, 0);
  head.writeUInt16BE(data.length, 2);
  return Buffer.concat([head, data]);
}

/** In units of 100 ms (RFC 7828 §3.1), as two bytes. */
function tenthsOfSeconds(ms: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(Math.min(Math.floor(ms / 100), 0xffff));
  return bytes;
}
