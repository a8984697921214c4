import { createCidrSet } from "./cidr.ts";
import { classifyIp, type IpClass } from "./ip-class.ts";
import { parseIp } from "./ip.ts";
import { createOperatorPorts } from "./operator-ports.ts";

/**
 * Whether a tenant's target may be connected to at the address and port. Checked after name resolution, for the address
 * that is then used; the port is required, because the operator's own listeners must never be reached.
 */
export type AddressPolicy = (address: string, port: number) => boolean;

/**
 * Always allows public addresses and the operator's blocks; allows addresses of this machine and its network only if
 * every address of the listener is loopback (DESIGN.md §4). The link-local block, where cloud providers serve credentials, requires a
 * block of the operator. Never allows the ports of this machine that are in `operatorPorts` (operator-ports.ts); only
 * callers that do not connect themselves may omit them.
 */
export function createAddressPolicy(
  listenHosts: string | readonly string[],
  allow: readonly string[],
  operatorPorts: SharedArrayBuffer | undefined,
): AddressPolicy {
  const ofOperator = operatorPorts && createOperatorPorts(operatorPorts);
  const operators = createCidrSet(allow);
  const isLoopback = [listenHosts].flat().every((host) => {
    const listens = parseIp(host);
    return host === "localhost" || (listens !== undefined && classifyIp(listens) === "loopback");
  });
  const classes = isLoopback ? ON_LOOPBACK : IN_PUBLIC;
  const decided = new Map<string, boolean>();
  return (address, port) => {
    if (ofOperator?.reaches(address, port) === true) return false;
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

/** Limit of remembered decisions: every request is checked, but there are few addresses. */
const DECIDED_MAX = 10_000;

const IN_PUBLIC: ReadonlySet<IpClass> = new Set(["global"]);
const ON_LOOPBACK: ReadonlySet<IpClass> = new Set(["global", "loopback", "private", "shared", "unique_local"]);
