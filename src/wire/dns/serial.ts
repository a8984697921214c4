/**
 * RFC 1982 §3.2: whether serial `a` comes after `b` on a circle of 32 bits. Of two that are half the circle apart neither
 * comes after the other.
 */
export const isSerialAfter = (a: number, b: number): boolean => {
  const distance = (a - b) >>> 0;
  return distance !== 0 && distance < 0x8000_0000;
};

/** The latest of some serials; null of none. */
export const latestSerial = (serials: readonly number[]): number | null =>
  serials.reduce<number | null>((latest, serial) => (latest === null || isSerialAfter(serial, latest) ? serial : latest), null);

/** `wanted`, where that comes after `seen`, or the one after `seen`. Never 0, which some secondaries take for "unset". */
export const serialAfter = (seen: number | null, wanted: number): number =>
  seen === null || isSerialAfter(wanted, seen) ? wanted : (seen + 1) >>> 0 || 1;

/** The serial in uncompressed RDATA of an SOA record, whose last 20 bytes are numbers (RFC 1035 §3.3.13). */
export const soaSerial = (rdata: Uint8Array): number =>
  Buffer.from(rdata.buffer, rdata.byteOffset, rdata.length).readUInt32BE(rdata.length - 20);
