import { fixedClock, systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { RCODE } from "#wire/dns/codes.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { Client } from "#nameserver/message/client.ts";
import { createClientOptions } from "#nameserver/message/client-options.ts";
import { NAMESERVER_LIMITS, type NameserverConfig } from "#nameserver/config.ts";
import { createRateTable, type RateLimit } from "#nameserver/limits/rate-limit.ts";
import { COOKIE_BYTES, createCookies } from "#nameserver/message/cookies.ts";
import { createSigner } from "#nameserver/dnssec/signer.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import type { Exchange } from "#nameserver/message/exchange.ts";
import { encodeRefusal } from "#nameserver/message/response.ts";
import type { ExternalLookups } from "#nameserver/external/external.ts";
import type { FindExternal } from "#nameserver/external/external-names.ts";
import { UNSIGNED } from "#nameserver/tsig/tsig-check.ts";

/** The secret of RFC 9018's first examples. */
const COOKIE_SECRET = Buffer.from("e5e973e5a6b2a43f48e7dc849e37bfcf", "hex");

/** A nameserver on any free port of the loopback interface. */
export const nameserverConfig = (change: Partial<NameserverConfig> = {}): NameserverConfig => ({
  host: "127.0.0.1",
  port: 0,
  reusePort: false,
  edgeAddresses: [],
  edgeProtocols: { alpn: ["http/1.1"], port: 443 },
  nsid: "",
  // Tests ask the same often.
  rateLimit: { perSecond: 0, allPerSecond: 0, slip: 2, exempt: [], table: createRateTable() },
  // The address has no listener: names that tests do not serve themselves are not looked up.
  resolvers: ["127.0.0.1:1"],
  limits: NAMESERVER_LIMITS,
  ...change,
});

/** Decrypts the secrets that tests put into entries. */
export const SEALER = createSealer(Buffer.alloc(32, 7));

/** Parts of a nameserver besides its zones. */
export const NAMESERVER_PARTS = {
  clock: systemClock,
  events: { push: () => {} },
  cookieSecret: COOKIE_SECRET,
  sealer: SEALER,
  log: () => {},
  onNotified: () => {},
  onReaddressed: () => {},
};

/** External names are unknown. */
const findNothing: FindExternal = () => ({ rdatas: [], ttl: 30, state: "unknown", keepMs: 0 });
const NOWHERE: Pick<ExternalLookups, "find" | "complete"> = { find: findNothing, complete: async (make) => make(findNothing) };

interface ResponderPartsOptions {
  readonly nsid?: string;
  readonly rateLimit?: RateLimit | undefined;
  readonly edge?: EdgeFront;
}

/** The clock of RFC 9018's first example, and the dependencies of a responder besides zones. */
export function responderParts({ nsid = "", rateLimit, edge = { ipv4: [], ipv6: [] } }: ResponderPartsOptions = {}) {
  const clock = fixedClock("2019-06-05T10:53:05Z");
  const cookies = createCookies(COOKIE_SECRET);
  return {
    clock,
    edge,
    cookies,
    clientOptions: createClientOptions({ cookies, nsid, limits: NAMESERVER_LIMITS, clock }),
    signAnswer: createSigner({ edge, clock, sealer: SEALER, metrics: createMetrics(), log: () => {} }).signAnswer,
    signatures: () => UNSIGNED,
    notifications: (exchange: Exchange) => encodeRefusal(exchange, { rcode: RCODE.NOTIMP }),
    outside: NOWHERE,
    transfers: { datagram: () => undefined },
    rateLimit,
  };
}

/** The client and server cookie that the server with those parts made for the address the given number of seconds ago. */
export function cookieFor(address: readonly number[], clientCookie: string, ageSeconds = 0): Buffer {
  const nowSeconds = responderParts().clock.nowMs() / 1000 - ageSeconds;
  const cookie = Buffer.alloc(COOKIE_BYTES);
  const asked = Buffer.from(clientCookie, "hex");
  createCookies(COOKIE_SECRET).answer(asked, 0, asked.length, Uint8Array.from(address), 0, address.length, nowSeconds, cookie, 0);
  return cookie;
}

export const clientAt = (transport: Client["transport"], address: readonly number[] = [198, 51, 100, 100]): Client => ({
  transport,
  address: Uint8Array.from(address),
  port: 4242,
});
