import { readIp } from "./ip.ts";

const bytes = Buffer.alloc(16);

/**
 * The key that limits per client count by: the /64 around an IPv6 address, because one client has all of it; an IPv4
 * address is its own key.
 */
export const networkOf = (address: string): string => (readIp(address, bytes) === 6 ? bytes.toString("hex", 0, 8) : address);
