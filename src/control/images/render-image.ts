import { readFile } from "node:fs/promises";
import sharp, { type ResizeOptions, type Sharp } from "sharp";
import { exifCopyright } from "./exif-copyright.ts";
import {
  ANIMATION_PIXELS_MAX,
  FRAMES_MAX,
  type ImageFacts,
  type ImageFault,
  type ImageFormat,
  IMAGE_FORMATS,
  PIXELS_MAX,
  type RenderTask,
  SIDE_PIXELS_MAX,
  VARIANT_PIXELS_MAX,
} from "./image-facts.ts";

/** Loaders of these formats only: the library knows many more, some of which run programs or open other files. */
const LOADERS = ["Jpeg", "Png", "Webp", "Heif"].flatMap((name) => [`VipsForeignLoad${name}File`, `VipsForeignLoad${name}Buffer`]);
const GIF_LOADERS = ["VipsForeignLoadNsgifFile", "VipsForeignLoadNsgifBuffer"];

sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: [...LOADERS, ...GIF_LOADERS] });

export class RefusedImage extends Error {
  readonly fault: ImageFault;

  constructor(fault: ImageFault) {
    super(fault);
    this.fault = fault;
  }
}

const READ = { limitInputPixels: PIXELS_MAX, failOn: "truncated", sequentialRead: true } as const;
/** A GIF ends with this byte (GIF89a §27); the library shows the frames that have arrived, and says nothing. */
const GIF_TRAILER = 0x3b;

async function assertWhole(path: string, format: ImageFormat): Promise<void> {
  if (format !== "gif") return;
  const bytes = await readFile(path);
  const end = bytes.findLastIndex((byte) => byte !== 0);
  if (bytes[end] !== GIF_TRAILER) throw new RefusedImage("image_unreadable");
}

/** Pixels that every frame is reduced to when a file is checked. */
const CHECKED = { width: 32, height: 32, fit: "inside" } as const;

/** Reads the head, compares it with the limits, and then decodes every frame once. Throws RefusedImage. */
export async function inspectImage(path: string): Promise<ImageFacts> {
  const { format, width, pageHeight, height, frames } = await headOf(path);
  const one = pageHeight ?? height;
  if (width > SIDE_PIXELS_MAX || one > SIDE_PIXELS_MAX || frames > FRAMES_MAX) throw new RefusedImage("image_dimensions");
  if (width * one > PIXELS_MAX || (frames > 1 && width * one * frames > ANIMATION_PIXELS_MAX)) throw new RefusedImage("image_dimensions");
  await assertWhole(path, format);
  try {
    await sharp(path, { ...READ, animated: frames > 1 })
      .resize(CHECKED)
      .raw()
      .toBuffer();
  } catch (error) {
    throw new RefusedImage(faultOf(error));
  }
  return { format, frames };
}

async function headOf(path: string) {
  const facts = await sharp(path, { ...READ, animated: true })
    .metadata()
    .catch((error: unknown) => {
      throw new RefusedImage(faultOf(error));
    });
  const format: string = facts.format === "heif" ? "avif" : facts.format;
  if (!isKnown(format) || (facts.format === "heif" && facts.compression !== "av1")) throw new RefusedImage("image_format");
  return { ...facts, format, frames: facts.pages ?? 1 };
}

const isKnown = (format: string | undefined): format is ImageFormat => IMAGE_FORMATS.some((known) => known === format);

const faultOf = (error: unknown): ImageFault => {
  const { message } = error as Error;
  if (message.includes("pixel limit")) return "image_dimensions";
  return message.includes("unsupported image format") ? "image_format" : "image_unreadable";
};

/** The image as a variant shows it. The file has been inspected. */
export async function renderImage(task: RenderTask): Promise<Buffer> {
  const head = await headOf(task.path);
  const { width, height } = head.autoOrient ?? head;
  const own = { width, height: head.frames > 1 ? (head.pageHeight ?? height) : height };
  const pixels = pixelsOf(task, own);
  if (pixels > VARIANT_PIXELS_MAX) throw new RefusedImage("image_dimensions");
  const mayMove = task.format === "gif" || task.format === "webp";
  const isAnimated = mayMove && head.frames > 1 && pixels * head.frames <= ANIMATION_PIXELS_MAX;
  const image = sharp(task.path, { ...READ, animated: isAnimated, autoOrient: true });
  image.resize(sizeFor(task, own));
  keepMetadata(image, task, head.exif);
  return encoded(image, task.format).toBuffer();
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Pixels of one frame of the result. */
function pixelsOf({ fit, width, height }: RenderTask, own: Size): number {
  if (fit === "crop") return Math.min(width, own.width) * Math.min(height, own.height);
  if (fit === "cover" || fit === "pad") return width * height;
  const scale = Math.min(width / own.width, height / own.height, fit === "scale-down" ? 1 : Infinity);
  return own.width * scale * (own.height * scale);
}

function sizeFor({ fit, width, height }: RenderTask, own: Size): ResizeOptions {
  switch (fit) {
    case "scale-down":
      return { width, height, fit: "inside", withoutEnlargement: true };
    case "contain":
      return { width, height, fit: "inside" };
    case "cover":
      return { width, height, fit: "cover" };
    case "crop":
      return { width: Math.min(width, own.width), height: Math.min(height, own.height), fit: "cover" };
    default:
      return { width, height, fit: "contain", background: "#fff" };
  }
}

function keepMetadata(image: Sharp, { metadata }: RenderTask, exif: Buffer | undefined): void {
  if (metadata === "keep") image.keepExif();
  const copyright = metadata === "copyright" && exif !== undefined ? exifCopyright(exif) : null;
  if (copyright !== null) image.withExif({ IFD0: { Copyright: copyright } });
}

const QUALITY = 85;

function encoded(image: Sharp, format: ImageFormat): Sharp {
  if (format === "jpeg") return image.flatten({ background: "#fff" }).jpeg({ quality: QUALITY });
  if (format === "webp") return image.webp({ quality: QUALITY });
  if (format === "avif") return image.avif({ quality: 60, effort: 2 });
  return format === "gif" ? image.gif() : image.png();
}
