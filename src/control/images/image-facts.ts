import type { ImageFit, ImageMetadata } from "#model/images/image-variant.ts";

export const IMAGE_FORMATS = ["jpeg", "png", "gif", "webp", "avif"] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

export const mediaTypeOf = (format: ImageFormat): string => `image/${format}`;

/** Facts about an image's file. */
export interface ImageFacts {
  readonly format: ImageFormat;
  /** More than one for animations. */
  readonly frames: number;
}

/** A file, and how it is to be shown. */
export interface RenderTask {
  readonly path: string;
  readonly fit: ImageFit;
  readonly width: number;
  readonly height: number;
  readonly metadata: ImageMetadata;
  readonly format: ImageFormat;
}

/** Why a file is refused; the names of errors. */
export type ImageFault = "image_format" | "image_unreadable" | "image_dimensions";

export const IMAGE_BYTES_MAX = 10 * 1024 * 1024;
export const SIDE_PIXELS_MAX = 12_000;
export const PIXELS_MAX = 100_000_000;
/** Of all frames of an animation. */
export const ANIMATION_PIXELS_MAX = 50_000_000;
export const FRAMES_MAX = 1_000;
/** Of a variant's image: encoding takes a second for some 20 megapixels, and the result passes between processes in one piece. */
export const VARIANT_PIXELS_MAX = 25_000_000;

/**
 * The format by the first bytes of the file; null for all others, whatever its name says. SVG is none of them: it is a program
 * of its own in the visitor's browser.
 */
export function formatOf(bytes: Buffer): ImageFormat | null {
  const begins = (text: string, at = 0): boolean => bytes.toString("latin1", at, at + text.length) === text;
  if (begins("\xff\xd8\xff")) return "jpeg";
  if (begins("\x89PNG\r\n\x1a\n")) return "png";
  if (begins("GIF87a") || begins("GIF89a")) return "gif";
  if (begins("RIFF") && begins("WEBP", 8)) return "webp";
  if (begins("ftyp", 4) && (begins("avif", 8) || begins("avis", 8) || bytes.subarray(8, 40).includes("avif"))) return "avif";
  return null;
}
