/** Decodes UTF-32, which `TextDecoder` does not support, without its byte order mark. */
export interface Utf32Decoder {
  decode(bytes: Uint8Array, options: { readonly stream: boolean }): string;
}

const REPLACEMENT = 0xfffd;
const MARK = 0xfeff;

export function createUtf32Decoder(order: "le" | "be"): Utf32Decoder {
  const isLittle = order === "le";
  /** Up to three bytes of an incomplete character. */
  let rest = Buffer.alloc(0);
  let isFirst = true;
  return {
    decode: (bytes, { stream }) => {
      const all = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
      const whole = all.length - (all.length % 4);
      const view = new DataView(all.buffer, all.byteOffset, all.length);
      let text = "";
      for (let at = 0; at < whole; at += 4) {
        const point = view.getUint32(at, isLittle);
        if (!isFirst || point !== MARK) text += String.fromCodePoint(isCharacter(point) ? point : REPLACEMENT);
        isFirst = false;
      }
      rest = stream ? Buffer.from(all.subarray(whole)) : Buffer.alloc(0);
      return stream || whole === all.length ? text : `${text}\ufffd`;
    },
  };
}

const isCharacter = (point: number): boolean => point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
