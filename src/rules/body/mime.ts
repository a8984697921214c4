/** First bytes of common uploads (WHATWG MIME Sniffing §6, and formats that it lacks). */
const MAGIC: readonly (readonly [at: number, bytes: string, type: string])[] = [
  [0, "\x89PNG\r\n\x1a\n", "image/png"],
  [0, "\xff\xd8\xff", "image/jpeg"],
  [0, "GIF87a", "image/gif"],
  [0, "GIF89a", "image/gif"],
  [0, "BM", "image/bmp"],
  [0, "II*\0", "image/tiff"],
  [0, "MM\0*", "image/tiff"],
  [0, "\0\0\x01\0", "image/x-icon"],
  [8, "WEBP", "image/webp"],
  [4, "ftypavif", "image/avif"],
  [4, "ftypheic", "image/heic"],
  [4, "ftyp", "video/mp4"],
  [0, "\x1aE\xdf\xa3", "video/webm"],
  [8, "AVI ", "video/avi"],
  [8, "WAVE", "audio/wave"],
  [0, "OggS", "application/ogg"],
  [0, "ID3", "audio/mpeg"],
  [0, "fLaC", "audio/flac"],
  [0, "%PDF-", "application/pdf"],
  [0, "PK\x03\x04", "application/zip"],
  [0, "\x1f\x8b\x08", "application/gzip"],
  [0, "7z\xbc\xaf'\x1c", "application/x-7z-compressed"],
  [0, "Rar!\x1a\x07", "application/x-rar-compressed"],
  [0, "\x7fELF", "application/x-executable"],
  [0, "MZ", "application/x-msdownload"],
  [0, "<?xml", "text/xml"],
];

const LOOKED_AT_BYTES = 512;

/** The media type that the first bytes of a body show. */
export function mimeOf(body: string): string {
  for (const [at, bytes, type] of MAGIC) if (body.startsWith(bytes, at)) return type;
  const start = body.slice(0, LOOKED_AT_BYTES);
  const text = start.trimStart();
  if (/^(?:<!doctype html|<html|<head|<body|<script)/i.test(text)) return "text/html";
  if (/^[{[]/.test(text)) return "application/json";
  // oxlint-disable-next-line no-control-regex
  return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(start) ? "application/octet-stream" : "text/plain";
}
