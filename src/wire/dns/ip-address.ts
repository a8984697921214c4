import { isIPv4, isIPv6 } from "node:net";

/** The four bytes of a dotted quad, or undefined. */
export const parseIpv4 = (text: string): Buffer | undefined => (isIPv4(text) ? Buffer.from(text.split(".").map(Number)) : undefined);

export const formatIpv4 = (bytes: Uint8Array): string => bytes.join(".");

/** The sixteen bytes of an IPv6 address, or undefined. A zone such as `%eth0` has no place in DNS. */
export function parseIpv6(text: string): Buffer | undefined {
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const [head = "", tail] = text.split("::");
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  const zeros = new Array<number>(16 - left.length - right.length).fill(0);
  return Buffer.from([...left, ...zeros, ...right]);
}

function groups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** The canonical text: lower case, the longest run of zero groups shortened (RFC 5952 §4). */
export function formatIpv6(bytes: Uint8Array): string {
  const words = Array.from({ length: 8 }, (_, i) => ((bytes[i * 2] as number) << 8) | (bytes[i * 2 + 1] as number));
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && words[start + length] === 0) length += 1;
    if (length > best.length) best = { start, length };
  }
  const hex = (from: number, to: number): string => words.slice(from, to).map((word) => word.toString(16)).join(":");
  return best.start < 0 ? hex(0, 8) : `${hex(0, best.start)}::${hex(best.start + best.length, 8)}`;
}
