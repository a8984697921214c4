import { type LookupAddress, lookup as lookUp } from "node:dns";
import type { LookupFunction } from "node:net";
import { classifyIp, isGlobalAddress } from "#kernel/net/ip-class.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { NO_ADDRESS, outboundFault } from "./outbound-faults.ts";
import { isHttpPort } from "./outbound-ports.ts";

/** Whether something may be sent to this address and port: asked of every address right before it is connected to. */
export type OutboundAddressAllowed = (address: string, port: number) => boolean;

export interface OutboundMessage {
  readonly method: "POST" | "PUT";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** From the first packet until the answer's end, milliseconds. */
  readonly totalMs: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

const CONNECT_MS = 5_000;
/** Of an answer nothing but its status counts. */
const ANSWER_BYTES_MAX = 65_536;

/**
 * An address that an account gave for things to be sent to. Gives what is wrong with one that is none, carries credentials, or
 * would send over the Internet in the clear, as the end of a sentence.
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
 * Sends once and gives the status of the answer. Redirects are not followed. Rejects with a reason that may be told to
 * whoever named the address (`outboundFault`); rejects as it is when it is ended early.
 */
export async function sendOutbound(
  { method, url, headers, body, totalMs, signal: early }: OutboundMessage,
  allowed: OutboundAddressAllowed,
): Promise<number> {
  const address = addressIn(url);
  // A connection to an address looks nothing up.
  if (address !== undefined && !allowed(address, portOf(url))) throw new Error(`this server sends no requests to ${address}`);
  let isGlobal = address === undefined || isGlobalAddress(address);
  const lookup = checkedLookup(
    (found) => allowed(found, portOf(url)),
    (found) => {
      isGlobal = found.every(isGlobalAddress);
    },
  );
  // A large library, and most installations send nothing.
  const { Agent, request } = await import("undici");
  const dispatcher = new Agent({ connect: { timeout: CONNECT_MS, lookup } });
  try {
    const limit = AbortSignal.timeout(totalMs);
    const signal = early === undefined ? limit : AbortSignal.any([limit, early]);
    const { statusCode, body: answer } = await request(url, { method, headers, body, dispatcher, signal });
    await answer.dump({ limit: ANSWER_BYTES_MAX });
    return statusCode;
  } catch (error) {
    early?.throwIfAborted();
    throw new Error(outboundFault(error, { isGlobal, totalMs }), { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}

/** The scheme's own where the URL names none. */
const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === "https:" ? 443 : 80);

/** The address that is written in place of a name. */
const addressIn = (url: URL): string | undefined => {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return parseIp(host) === undefined ? undefined : host;
};

const isLocal = (url: URL, address: string | undefined): boolean => {
  const parsed = address === undefined ? undefined : parseIp(address);
  return parsed === undefined ? url.hostname === "localhost" : classifyIp(parsed) !== "global";
};

/**
 * Resolves a name for a connection, and fails where any of its addresses is not allowed: the very addresses that were
 * checked are connected to, so that a name cannot change in between. `onFound` hears of them.
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
