/** RFC 1982 §3.2: whether serial `a` is after `b`, modulo 2^32. False in both directions for serials that are 2^31 apart. */
export const isSerialAfter = (a: number, b: number): boolean => {
  const distance = (a - b) >>> 0;
  return distance !== 0 && distance < 0x8000_0000;
};

/** The latest of the serials; null if none are given. */
export const latestSerial = (serials: readonly number[]): number | null =>
  serials.reduce<number | null>((latest, serial) => (latest === null || isSerialAfter(serial, latest) ? serial : latest), null);

/** `wanted` if it is after `seen`, otherwise the successor of `seen`. Never 0, which some secondaries take for "unset". */
export const serialAfter = (seen: number | null, wanted: number): number =>
  seen === null || isSerialAfter(wanted, seen) ? wanted : (seen + 1) >>> 0 || 1;

/** The serial in uncompressed RDATA of an SOA record, whose last 20 bytes are numbers (RFC 1035 §3.3.13). */
export const soaSerial = (rdata: Uint8Array): number =>
  Buffer.from(rdata.buffer, rdata.byteOffset, rdata.length).readUInt32BE(rdata.length - 20);
