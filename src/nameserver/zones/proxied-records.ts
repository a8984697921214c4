import type { EdgeProtocols } from "#nameserver/config.ts";
import { type IpAddress, formatIp, parseIp } from "#kernel/net/ip.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { encodeContent } from "#wire/dns/record-types.ts";
import type { RRset } from "./rrset.ts";

/** The records of proxied names: the edge's addresses and its HTTPS parameters. */
export interface EdgeFront {
  readonly ipv4: readonly Uint8Array[];
  readonly ipv6: readonly Uint8Array[];
  /** Absent if the edge uses the defaults of clients: HTTP/1.1 on port 443. */
  readonly https?: HttpsSets | undefined;
}

/** HTTPS sets (RFC 9460), by the edge addresses that a name shows. */
export type HttpsSets = Readonly<Record<"all" | "ipv4" | "ipv6", RRset>>;

/** TTL in seconds of proxied names' records (SPEC 2.2: automatic). */
export const PROXIED_TTL = 300;

const HTTPS_PORT = 443;
/** The default ALPN of HTTPS records (RFC 9460 §9.5). */
const DEFAULT_ALPN = "http/1.1";
/** Hints save a client one query; the address records have all addresses. */
const HINTS_MAX = 8;

/** Throws RangeError on an invalid address in the operator's configuration. */
export function createEdgeFront(addresses: readonly string[], protocols: EdgeProtocols): EdgeFront {
  const parsed = addresses.map((text) => {
    const address = parseIp(text);
    if (!address) throw new RangeError(`not an IP address: ${JSON.stringify(text)}`);
    return address;
  });
  const [ipv4, ipv6] = ([4, 6] as const).map((family) => parsed.filter((address) => address.family === family)) as [
    IpAddress[],
    IpAddress[],
  ];
  const front = { ipv4: ipv4.map(({ bytes }) => bytes), ipv6: ipv6.map(({ bytes }) => bytes) };
  const alpn = protocols.alpn.filter((protocol) => protocol !== DEFAULT_ALPN);
  if (alpn.length === 0 || protocols.port === 0) return front;
  const set = (families: readonly IpAddress[][]): RRset => httpsSet(alpn, protocols.port, families);
  return { ...front, https: { all: set([ipv4, ipv6]), ipv4: set([ipv4, []]), ipv6: set([[], ipv6]) } };
}

/** The front by the operator's configuration, or by the installation's addresses while control says them. */
export interface LiveEdgeFront {
  /** The same object for ever. What needs one state of it for a time copies it. */
  readonly front: EdgeFront;
  /** Null: the addresses of the configuration. Returns whether the answers change. */
  use(addresses: readonly string[] | null): boolean;
}

export function createLiveEdgeFront(configured: readonly string[], protocols: EdgeProtocols): LiveEdgeFront {
  let used = configured;
  let current = createEdgeFront(configured, protocols);
  return {
    front: {
      get ipv4() {
        return current.ipv4;
      },
      get ipv6() {
        return current.ipv6;
      },
      get https() {
        return current.https;
      },
    },
    use: (addresses) => {
      const next = addresses?.filter((address) => parseIp(address) !== undefined) ?? configured;
      if (next.join() === used.join()) return false;
      used = next;
      current = createEdgeFront(next, protocols);
      return true;
    },
  };
}

/** One record in service mode for the name itself (RFC 9460 §2.4.3). */
function httpsSet(alpn: readonly string[], port: number, [ipv4 = [], ipv6 = []]: readonly IpAddress[][]): RRset {
  const list = (family: readonly IpAddress[]): string => family.slice(0, HINTS_MAX).map(formatIp).join(",");
  const params = [
    `alpn="${alpn.join(",")}"`,
    ...(port === HTTPS_PORT ? [] : [`port=${port}`]),
    ...(ipv4.length > 0 ? [`ipv4hint=${list(ipv4)}`] : []),
    ...(ipv6.length > 0 ? [`ipv6hint=${list(ipv6)}`] : []),
  ];
  const rdata = encodeContent("HTTPS", `1 . ${params.join(" ")}`, { origin: ".", style: "master" });
  return { type: TYPE.HTTPS, ttl: PROXIED_TTL, rdatas: [rdata], proxied: true };
}
