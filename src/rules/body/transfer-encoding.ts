/** Decodes a Content-Transfer-Encoding (RFC 2045 §6); undefined if it is unknown, null if it changes nothing. */
export function undoTransferEncoding(encoding: string, value: string): string | null | undefined {
  const decode = DECODERS[encoding.trim().toLowerCase()];
  return decode === undefined ? undefined : decode(value);
}

const asItStands = (): null => null;

const DECODERS: Readonly<Record<string, (value: string) => string | null>> = {
  "": asItStands,
  "7bit": asItStands,
  "8bit": asItStands,
  binary: asItStands,
  base64: (value) => Buffer.from(value.replace(/[^A-Za-z0-9+/]/g, ""), "base64").toString("latin1"),
  "quoted-printable": (value) =>
    value
      .replace(/=[ \t]{0,9}\r?\n/g, "")
      .replace(/=([0-9A-Fa-f]{2})/g, (_whole, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
};
