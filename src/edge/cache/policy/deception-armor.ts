/** Media types, or prefixes of them, that match a file extension. */
const TYPES: readonly (readonly [extensions: string, types: readonly string[]])[] = [
  ["js mjs", ["text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "application/ecmascript"]],
  ["map", ["application/json", "text/plain"]],
  ["json", ["application/json"]],
  ["css", ["text/css"]],
  ["wasm", ["application/wasm"]],
  ["eot otf ttf woff woff2", ["font/", "application/font", "application/x-font", "application/vnd.ms-fontobject"]],
  ["svg svgz", ["image/", "text/xml", "application/xml"]],
  ["avif bmp gif ico jpeg jpg jxl pict png tif tiff webp", ["image/"]],
  ["aac flac m4a mid midi mp3 opus wav", ["audio/"]],
  ["flv m4v mkv mov mp4 ogg webm swf", ["video/", "audio/", "application/ogg", "application/x-shockwave-flash"]],
  ["csv", ["text/csv", "text/plain"]],
  ["pdf", ["application/pdf"]],
  ["html htm xhtml", ["text/html", "application/xhtml+xml"]],
];
const BY_EXTENSION: ReadonlyMap<string, readonly string[]> = new Map(
  TYPES.flatMap(([extensions, types]) => extensions.split(" ").map((extension) => [extension, types] as const)),
);
/** Other types are served under many extensions; only these are web pages. */
const PAGES = ["text/html", "application/xhtml+xml"];
/** A download is never a web page, whatever its extension. */
const DOWNLOAD = "application/octet-stream";

/**
 * Whether the media type fits the extension of the path. If an origin answers `/account/x.css` with a page, storing it
 * would expose one visitor's page to all (web cache deception). Paths without an extension always fit.
 */
export function isAsNamed(path: string, contentType: string | null): boolean {
  const extension = /\.([A-Za-z0-9]{1,5})$/.exec(path.slice(path.lastIndexOf("/") + 1))?.[1]?.toLowerCase();
  if (extension === undefined) return true;
  const type = (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
  if (type === DOWNLOAD) return true;
  const types = BY_EXTENSION.get(extension);
  return types === undefined ? !PAGES.includes(type) : types.some((start) => type.startsWith(start));
}

/**
 * Whether a media type is that of a page or of data, and not that of the static file which the path names. Many servers answer `/account/x.css`
 * or `/account;x.css` with the visitor's `/account`.
 */
export function isPageOrData(path: string, contentType: string | null): boolean {
  const type = (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
  return PAGES.includes(type) || ((type === "application/json" || type.endsWith("+json")) && !isAsNamed(path, contentType));
}
