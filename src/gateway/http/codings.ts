/** Compressions that Content-Encoding names (RFC 9110 §8.4.1) and that this process can undo. */
export type Packing = "gzip" | "deflate" | "br" | "zstd";

const PACKINGS: ReadonlyMap<string, Packing> = new Map<string, Packing>([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "br"],
  ["zstd", "zstd"],
]);

/** Peers list one coding, or two by mistake. */
const CODINGS_MAX = 3;

/** In the order in which they are undone; empty for plain bytes, undefined if one is unknown. */
export function packingsOf(field: string): readonly Packing[] | undefined {
  const names = field.toLowerCase().split(",", CODINGS_MAX + 1);
  const codings = names.map((name) => name.trim()).filter((name) => name !== "" && name !== "identity");
  const packings = codings.toReversed().flatMap((name) => PACKINGS.get(name) ?? []);
  return names.length <= CODINGS_MAX && packings.length === codings.length ? packings : undefined;
}

/** RFC 9110 §8.4.1.2: some peers send "deflate" without the zlib header, whose low four bits are 8. */
export const hasZlibHeader = (first: number): boolean => (first & 15) === 8;
