import { networkInterfaces } from "node:os";
import { classifyIp } from "./ip-class.ts";
import { type IpAddress, formatIp, parseIp, unmapIp } from "./ip.ts";

/**
 * Ports on which this process listens for its operator: the API and the operations listener. All threads share them,
 * because planes start before these listeners know their ports.
 */
export interface OperatorPorts {
  add(port: number): void;
  /** Whether a connection to that address would reach one of the listeners: this machine, at such a port. */
  reaches(address: string, port: number): boolean;
}

/** One bit per port. Pass it to other threads. */
export const sharedOperatorPorts = (): SharedArrayBuffer => new SharedArrayBuffer(PORTS / 8);

const PORTS = 65_536;

export function createOperatorPorts(shared: SharedArrayBuffer): OperatorPorts {
  const bits = new Uint8Array(shared);
  return {
    add: (port) => void Atomics.or(bits, port >> 3, 1 << (port & 7)),
    reaches: (address, port) => (bits[port >> 3]! & (1 << (port & 7))) !== 0 && isThisMachine(address),
  };
}

/** Interfaces change at runtime; they are only read for such a port. */
function isThisMachine(address: string): boolean {
  const parsed = parseIp(address);
  if (parsed === undefined) return false;
  const ipClass = classifyIp(parsed);
  if (ipClass === "loopback" || ipClass === "unspecified") return true;
  const own = formatIp(unmapIp(parsed));
  return Object.values(networkInterfaces()).some((list) => list?.some((each) => sameIp(parseIp(each.address), own)));
}

const sameIp = (ip: IpAddress | undefined, own: string): boolean => ip !== undefined && formatIp(ip) === own;
