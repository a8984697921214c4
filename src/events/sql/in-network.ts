import { readIp } from "#kernel/net/ip.ts";

const address = new Uint8Array(16);
const network = new Uint8Array(16);

/** Whether the address is in the network (`192.0.2.0/24`) or equals it: 1 or 0, as in SQL. Invalid values give 0. */
export function inNetwork(text: unknown, cidr: unknown): number {
  if (typeof text !== "string" || typeof cidr !== "string") return 0;
  const slash = cidr.indexOf("/");
  const family = readIp(slash < 0 ? cidr : cidr.slice(0, slash), network);
  if (family === 0 || readIp(text, address) !== family) return 0;
  // Both families use sixteen bytes, with IPv4 at the end.
  let bits = slash < 0 ? 128 : Number(cidr.slice(slash + 1)) + (family === 4 ? 96 : 0);
  for (let i = 0; bits > 0; i++, bits -= 8) {
    const mask = bits >= 8 ? 0xff : 0xff00 >> bits;
    if (((address[i]! ^ network[i]!) & mask) !== 0) return 0;
  }
  return 1;
}
