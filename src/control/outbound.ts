import { type LookupAddress, lookup as lookUp } from "node:dns";
import type { LookupFunction } from "node:net";
import type { Dispatcher } from "undici";
import { classifyIp, isGlobalAddress } from "#kernel/net/ip-class.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { NO_ADDRESS, outboundFault } from "./outbound-faults.ts";
import { isHttpPort } from "./outbound-ports.ts";

/** Whether the address and port may be connected to; called for every address immediately before connecting. */
export type OutboundAddressAllowed = (address: string, port: number) => boolean;

export interface OutboundMessage extends OutboundRequest {
  readonly method: "POST" | "PUT";
  readonly body: string | Uint8Array;
}

interface OutboundRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** From the first packet to the end of the response, in milliseconds. */
  readonly totalMs: number;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

const CONNECT_MS = 5_000;
/** Limit of a response's size; only its status is used. */
const ANSWER_BYTES_MAX = 65_536;

/**
 * Parses a URL that an account has entered. If it is invalid, contains credentials or uses an unencrypted public
 * connection, returns the problem as the end of a sentence.
 */
export function readOutboundUrl(text: string, allowed: OutboundAddressAllowed): URL | { readonly problem: string } {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return { problem: "must be an https URL" };
  if (url.username !== "" || url.password !== "") return { problem: "must not carry credentials" };
  if (!isHttpPort(url.port)) return { problem: `must not use port ${url.port}, which belongs to another service` };
  const address = addressIn(url);
  if (address !== undefined && !allowed(address, portOf(url)))
    return { problem: `must not use the address ${address}, to which this server sends no requests (notifications.webhook_allow)` };
  if (url.protocol === "http:" && !isLocal(url, address))
    return { problem: "must be an https URL, except for addresses of your own network" };
  return url;
}

/**
 * Sends one request and returns the status of the response. Does not follow redirects. Rejects with a reason for the
 * account (`outboundFault`), or with the abort reason.
 */
export const sendOutbound = (message: OutboundMessage, allowed: OutboundAddressAllowed): Promise<number> =>
  exchange(message, allowed, async (statusCode, answer) => {
    await answer.dump({ limit: ANSWER_BYTES_MAX });
    return statusCode;
  });

/** Reads a file; null if the response is not a 200 or has more bytes. Rejects like `sendOutbound`. */
export const fetchOutbound = (
  message: OutboundRequest & { readonly bytesMax: number },
  allowed: OutboundAddressAllowed,
): Promise<Buffer | null> =>
  exchange({ ...message, method: "GET" }, allowed, async (statusCode, answer) => {
    const pieces: Buffer[] = [];
    let length = 0;
    if (statusCode === 200)
      for await (const piece of answer as AsyncIterable<Buffer>) {
        length += piece.length;
        if (length > message.bytesMax) return null;
        pieces.push(piece);
      }
    return statusCode === 200 ? Buffer.concat(pieces) : null;
  });

async function exchange<T>(
  {
    method,
    url,
    headers,
    body,
    totalMs,
    signal: early,
  }: OutboundRequest & { readonly method: "GET" | "POST" | "PUT"; readonly body?: string | Uint8Array },
  allowed: OutboundAddressAllowed,
  read: (statusCode: number, answer: Dispatcher.ResponseData["body"]) => Promise<T>,
): Promise<T> {
  const address = addressIn(url);
  // For a literal address, `lookup` is not called.
  if (address !== undefined && !allowed(address, portOf(url))) throw new Error(`this server sends no requests to ${address}`);
  let isGlobal = address === undefined || isGlobalAddress(address);
  const lookup = checkedLookup(
    (found) => allowed(found, portOf(url)),
    (found) => {
      isGlobal = found.every(isGlobalAddress);
    },
  );
  // Loaded on demand, because the library is large and most installations send nothing.
  const { Agent, request } = await import("undici");
  const dispatcher = new Agent({ connect: { timeout: CONNECT_MS, lookup } });
  try {
    const limit = AbortSignal.timeout(totalMs);
    const signal = early === undefined ? limit : AbortSignal.any([limit, early]);
    const answer = await request(url, { method, headers, body: body ?? null, dispatcher, signal });
    return await read(answer.statusCode, answer.body);
  } catch (error) {
    early?.throwIfAborted();
    throw new Error(outboundFault(error, { isGlobal, totalMs }), { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}

/** The scheme's default if the URL has no port. */
const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === "https:" ? 443 : 80);

/** The literal address in the URL; undefined for a name. */
const addressIn = (url: URL): string | undefined => {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return parseIp(host) === undefined ? undefined : host;
};

const isLocal = (url: URL, address: string | undefined): boolean => {
  const parsed = address === undefined ? undefined : parseIp(address);
  return parsed === undefined ? url.hostname === "localhost" : classifyIp(parsed) !== "global";
};

/**
 * Resolves a name for a connection, and fails if any of its addresses is not allowed. The checked addresses are used for
 * connecting, so the name cannot change in between. Calls `onFound` with them.
 */
const checkedLookup =
  (allowed: (address: string) => boolean, onFound: (addresses: readonly string[]) => void): LookupFunction =>
  (hostname, options, done) => {
    lookUp(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, "", 0);
      const addresses = found.map(({ address }: LookupAddress) => address);
      const [first] = found;
      if (first === undefined || !addresses.every((address) => allowed(address)))
        return done(
          Object.assign(new Error("the name resolves to an address to which this server sends no requests"), { code: NO_ADDRESS }),
          "",
          0,
        );
      onFound(addresses);
      if (options.all === true) return done(null, found as never);
      return done(null, first.address, first.family);
    });
  };
