import { createHash } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { accountOfHash, DELIVERY_PATH } from "#kernel/net/image-urls.ts";
import { IMAGE_ID } from "#model/images/image.ts";
import type { ImageVariant } from "#model/images/image-variant.ts";
import type { Store } from "#store/database/store.ts";
import { findImage, type ImageRow } from "#store/images/images.ts";
import type { ImageFiles } from "./image-files.ts";
import { IMAGE_FORMATS, type ImageFault, type ImageFormat, mediaTypeOf } from "./image-facts.ts";
import type { ImageSigningKeys } from "./image-keys.ts";
import type { ImageProcessor } from "./image-processor.ts";
import { isSigned, secondsLeft } from "./image-signature.ts";
import { variantNamed } from "./image-variants.ts";

/** A request for an image. */
export interface ImageRequestLine {
  readonly path: string;
  readonly query: string;
  readonly accept: string;
}

/** An image that may be shown; its bytes are made when they are asked for. */
export interface DeliveredImage {
  readonly type: string;
  readonly etag: string;
  /** How long browsers may keep it, and whether others may. */
  readonly maxAgeSeconds: number;
  readonly isPrivate: boolean;
  bytes(): Promise<Buffer>;
}

export interface ImageDelivery {
  /** Throws `image_not_found`, `image_variant_not_found`, `image_unsigned` or `image_busy`. */
  find(request: ImageRequestLine): Promise<DeliveredImage>;
}

export interface ImageDeliveryDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly files: ImageFiles;
  readonly processor: ImageProcessor;
  readonly keys: ImageSigningKeys;
}

const MAX_AGE_SECONDS = 14_400;
/** Rendered images that are kept in memory. */
const KEPT_BYTES_MAX = 67_108_864;
/** An image that cannot be rendered is not tried again with every request. */
const REFUSED_MS = 60_000;
const REFUSED_MAX = 1_000;
/** AVIF takes a second of work for each megapixel. */
const AVIF_PIXELS_MAX = 1_500_000;

export function createImageDelivery({ store, clock, files, processor, keys }: ImageDeliveryDeps): ImageDelivery {
  const kept = new Map<string, Promise<Buffer>>();
  const sizes = new Map<string, number>();
  const refused = new Map<string, { readonly error: PlatformError; readonly untilMs: number }>();
  let keptBytes = 0;
  const forget = (name: string): void => {
    kept.delete(name);
    keptBytes -= sizes.get(name) ?? 0;
    sizes.delete(name);
  };
  /** Several requests for the same bytes wait for the same work. */
  const rendered = (name: string, make: () => Promise<Buffer>): Promise<Buffer> => {
    const known = kept.get(name);
    if (known !== undefined) {
      kept.delete(name);
      kept.set(name, known);
      return known;
    }
    const failed = refused.get(name);
    if (failed !== undefined && failed.untilMs > clock.monotonicMs()) return Promise.reject(failed.error);
    refused.delete(name);
    const made = make();
    kept.set(name, made);
    made.then(
      (bytes) => {
        sizes.set(name, bytes.length);
        keptBytes += bytes.length;
        for (const oldest of sizes.keys()) {
          if (keptBytes <= KEPT_BYTES_MAX) break;
          forget(oldest);
        }
      },
      (error: unknown) => {
        forget(name);
        if (!(error instanceof PlatformError) || !LASTING.has(error.errorName)) return;
        refused.set(name, { error, untilMs: clock.monotonicMs() + REFUSED_MS });
        for (const oldest of refused.keys()) {
          if (refused.size <= REFUSED_MAX) break;
          refused.delete(oldest);
        }
      },
    );
    return made;
  };

  return {
    find: async ({ path, query, accept }) => {
      const [hash = "", id = "", variantId = "", ...rest] = path.slice(DELIVERY_PATH.length).split("/");
      const accountId = accountOfHash(hash);
      if (accountId === null || !IMAGE_ID.test(id) || rest.length > 0) throw new PlatformError("image_not_found");
      const row = await findImage(store.read, accountId, id);
      if (row?.blob_id === undefined || row.blob_id === null) throw new PlatformError("image_not_found");
      const variant = await variantNamed(store.read, accountId, variantId);
      const isPrivate = row.signed === 1 && !variant.neverRequireSignedURLs;
      const values = isPrivate ? (await keys.list(accountId)).keys.map(({ value }) => value) : [];
      if (isPrivate && !isSigned(path, query, values, clock.nowMs())) throw new PlatformError("image_unsigned");
      const format = formatFor(row, variant, accept);
      const { fit, width, height, metadata } = variant.options;
      const name = createHash("sha256").update([row.digest, fit, width, height, metadata, format].join(" ")).digest("hex").slice(0, 32);
      const blobId = row.blob_id;
      return {
        type: mediaTypeOf(format),
        etag: `"${name}"`,
        isPrivate,
        maxAgeSeconds: Math.min(MAX_AGE_SECONDS, (isPrivate ? secondsLeft(query, clock.nowMs()) : null) ?? MAX_AGE_SECONDS),
        bytes: () =>
          rendered(name, async () => {
            const path = await files.find(blobId);
            if (path === null) throw new PlatformError("image_not_found");
            return processor.render({ path, fit, width, height, metadata, format }, accountId);
          }),
      };
    },
  };
}

/** Reasons that lie in the image and not in the moment. */
const LASTING: ReadonlySet<string> = new Set<ImageFault>(["image_format", "image_unreadable", "image_dimensions"]);

/** The smallest format that the client accepts by name; the file's own otherwise, or PNG for AVIF. */
function formatFor(row: ImageRow, { options: { width, height } }: ImageVariant, accept: string): ImageFormat {
  const own = IMAGE_FORMATS.find((format) => format === row.format) ?? "png";
  const isAnimated = row.frames > 1;
  if (!isAnimated && width * height <= AVIF_PIXELS_MAX && accepts(accept, "image/avif")) return "avif";
  if (accepts(accept, "image/webp")) return "webp";
  if (own === "webp" || own === "avif") return isAnimated ? "gif" : "png";
  return own;
}

/** Whether the type stands in the field with a weight above 0 (RFC 9110 §12.5.1). */
const accepts = (accept: string, type: string): boolean =>
  accept
    .toLowerCase()
    .split(",")
    .some((range) => {
      const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
      return name === type && !parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter));
    });
