/**
 * Extensions that are cached by default, as at other CDNs: static files, which are the same for every visitor. Other
 * paths are not cached by default.
 */
const CACHED_EXTENSIONS: ReadonlySet<string> = new Set([
  // Code, styles and fonts of pages.
  ..."js mjs css map wasm eot otf ttf woff woff2".split(" "),
  // Images.
  ..."avif bmp gif ico jpeg jpg jxl pict png svg svgz tif tiff webp".split(" "),
  // Audio and video.
  ..."aac flac flv m4a m4v mid midi mkv mov mp3 mp4 ogg opus swf wav webm".split(" "),
  // Documents.
  ..."csv doc docx ejs odp ods odt pdf pls ppt pptx ps xls xlsx".split(" "),
  // Archives and programs.
  ..."7z apk bin bz2 class dmg exe gz iso jar rar tar tgz xz zip zst".split(" "),
]);

const EXTENSION_LENGTH_MAX = 5;
const DOT = 0x2e;
const SLASH = 0x2f;

/** Whether the last segment of the path ends in one of the extensions, ignoring case. */
export function hasCachedExtension(path: string): boolean {
  for (let at = path.length - 1; at >= 0 && path.length - 1 - at <= EXTENSION_LENGTH_MAX; at--) {
    const code = path.charCodeAt(at);
    if (code === SLASH) return false;
    if (code === DOT) return CACHED_EXTENSIONS.has(path.slice(at + 1).toLowerCase());
  }
  return false;
}
