import type { Transcoder } from "./transcoder.ts";

/** Passes a body on only if it begins like text: untyped images and archives are not scanned. */
export function textOnly(to: Transcoder): Transcoder {
  let isText: boolean | undefined;
  return {
    write: (bytes) => {
      if (bytes.length > 0 && (isText ??= beginsAsText(bytes))) to.write(bytes);
    },
    end: () => to.end(),
  };
}

const LOOKED_AT_BYTES = 512;

/** WHATWG MIME Sniffing §7.2: a byte order mark (also of UTF-32), or none of the bytes that text cannot have. */
export function beginsAsText(bytes: Uint8Array): boolean {
  const [first, second, third, fourth] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  if (first === 0 && second === 0 && third === 0xfe && fourth === 0xff) return true;
  return !bytes.subarray(0, LOOKED_AT_BYTES).some((byte) => IS_BINARY[byte] === 1);
}

export const beginsAsAscii = (bytes: Uint8Array): boolean =>
  !bytes.subarray(0, LOOKED_AT_BYTES).some((byte) => byte > 0x7e || IS_BINARY[byte] === 1);

const IS_BINARY = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f) ? 1 : 0,
);
