const APPLICATIONS: ReadonlySet<string> = new Set(
  (
    "ecmascript graphql javascript json json5 jsonlines manifest msgpack protobuf rtf sql toml wasm x-httpd-cgi x-javascript x-ndjson " +
    "x-perl x-protobuf x-sh x-web-app-manifest xml yaml eot font font-sfnt font-woff opentype otf truetype ttf vnd.ms-fontobject " +
    "x-font-opentype x-font-otf x-font-truetype x-font-ttf x-opentype x-otf x-truetype x-ttf"
  ).split(" "),
);
const OTHERS: ReadonlySet<string> = new Set([
  "font/eot",
  "font/opentype",
  "font/otf",
  "font/ttf",
  "image/bmp",
  "image/svg+xml",
  "image/vnd.microsoft.icon",
  "image/x-icon",
]);

/**
 * True if bodies of a media type become much smaller: text and text formats, scripts, and fonts and images without
 * compression. Event streams are excluded, since each event must leave at once.
 */
export function isCompressible(mediaType: string): boolean {
  if (mediaType.startsWith("text/")) return mediaType !== "text/event-stream";
  if (mediaType.startsWith("application/"))
    return APPLICATIONS.has(mediaType.slice(12)) || mediaType.endsWith("+json") || mediaType.endsWith("+xml");
  return OTHERS.has(mediaType);
}
