import { createCidrSet } from "./cidr.ts";
import { classifyIp, type IpClass } from "./ip-class.ts";
import { parseIp } from "./ip.ts";

/** Whether an origin may be at an address. Asked after resolution, about the very address that is then connected to. */
export type AddressPolicy = (address: string) => boolean;

/**
 * Public addresses and the operator's blocks are always allowed; addresses of this machine and its
 * network only while the edge itself can be reached from nowhere else (DESIGN.md §4). The link-local
 * block, where clouds keep their credentials, takes a block of the operator's.
 */
export function createAddressPolicy(listenHost: string, allow: readonly string[]): AddressPolicy {
  const operators = createCidrSet(allow);
  const listens = parseIp(listenHost);
  const isLoopback = listenHost === "localhost" || (listens !== undefined && classifyIp(listens) === "loopback");
  const classes = isLoopback ? ON_LOOPBACK : IN_PUBLIC;
  const decided = new Map<string, boolean>();
  return (address) => {
    let allowed = decided.get(address);
    if (allowed === undefined) {
      const parsed = parseIp(address);
      allowed = parsed !== undefined && (classes.has(classifyIp(parsed)) || operators.has(address));
      if (decided.size >= DECIDED_MAX) decided.clear();
      decided.set(address, allowed);
    }
    return allowed;
  };
}

/** Asked for every request, about few addresses. */
const DECIDED_MAX = 10_000;

const IN_PUBLIC: ReadonlySet<IpClass> = new Set(["global"]);
const ON_LOOPBACK: ReadonlySet<IpClass> = new Set(["global", "loopback", "private", "shared", "unique_local"]);
