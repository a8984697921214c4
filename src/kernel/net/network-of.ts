import { readIp } from "./ip.ts";

const bytes = Buffer.alloc(16);

/** What limits per client count by: a client with one IPv6 address has the /64 around it; an IPv4 address stands for itself. */
export const networkOf = (address: string): string => (readIp(address, bytes) === 6 ? bytes.toString("hex", 0, 8) : address);
