import { IMAGE_BYTES_MAX } from "#control/images/image-facts.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ImageFile, NewImage } from "#model/images/image.ts";
import type { FormFile } from "#api/form-body.ts";

/** Uploads have no limit of their own in time; the one of all calls counts. */
export const IMAGE_UPLOAD_LIMIT = { bodyBytesMax: IMAGE_BYTES_MAX, rateLimit: { requests: 0, periodSeconds: 60 } } as const;

/** Fields of forms that make images. */
export interface ImageFields {
  readonly id?: string;
  readonly metadata?: string;
  readonly requireSignedURLs?: string;
  readonly creator?: string;
}

/** Clients send booleans in the spelling of their language. */
export const newImageOf = (fields: ImageFields): NewImage => ({
  id: fields.id === "" ? undefined : fields.id,
  meta: metadataOf(fields),
  signed: fields.requireSignedURLs?.toLowerCase() === "true",
  creator: fields.creator ?? null,
});

/** A field `metadata`, or one for each member, as the vendor's SDK sends objects: `metadata[album]`. */
function metadataOf(fields: ImageFields): object {
  const text = fields.metadata;
  if (text === undefined || text === "")
    return Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        const member = name.startsWith("metadata[") && name.endsWith("]") ? name.slice("metadata[".length, -1) : "";
        return member === "" ? [] : [[member, value as unknown]];
      }),
    );
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The same error as for other values.
  }
  throw new PlatformError("image_input", { message: "The metadata must be a JSON object.", source: "/metadata" });
}

export function imageFileOf(file: FormFile | undefined): ImageFile {
  if (file === undefined || file.bytes.length === 0)
    throw new PlatformError("image_input", { message: "The form needs a field with a file: file.", source: "/file" });
  return file;
}
