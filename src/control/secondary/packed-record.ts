import type { ResourceRecord } from "#wire/dns/message.ts";

const ROOM_BYTES = 64 * 1024;

/**
 * Copies the names and RDATA of records one behind the other into few buffers. A buffer for each of them takes 350 bytes
 * more for a record, and a transfer holds millions.
 */
export function createRecordPacker(): (record: ResourceRecord) => ResourceRecord {
  let room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  let used = 0;
  const packed = (bytes: Uint8Array): Buffer => {
    if (room.length - used < bytes.length) {
      room = Buffer.allocUnsafeSlow(Math.max(ROOM_BYTES, bytes.length));
      used = 0;
    }
    room.set(bytes, used);
    used += bytes.length;
    return room.subarray(used - bytes.length, used);
  };
  return ({ name, type, class: code, ttl, rdata }) => ({ name: packed(name), type, class: code, ttl, rdata: packed(rdata) });
}
