import type { OutboundAddressAllowed } from "#control/outbound.ts";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { ObjectStore } from "#wire/s3/object-store.ts";
import type { Store } from "#store/database/store.ts";
import { createImageDelivery, type ImageDelivery } from "./image-delivery.ts";
import { createImageFiles } from "./image-files.ts";
import { createImageSigningKeys, type ImageSigningKeys } from "./image-keys.ts";
import { createImageProcessor, type ImageProcessor } from "./image-processor.ts";
import { createImages, type ImageLimits, type Images } from "./images.ts";
import { createImageSweep, type ImageSweep } from "./image-sweep.ts";
import { createImageVariants, type ImageVariants } from "./image-variants.ts";

/** Use-cases of images. */
export interface ImageControl {
  readonly images: Images;
  readonly imageVariants: ImageVariants;
  readonly imageKeys: ImageSigningKeys;
  readonly imageDelivery: ImageDelivery;
  readonly imageSweep: ImageSweep;
  readonly imageProcessor: Pick<ImageProcessor, "close">;
}

/** Where images are, and what an account may have. */
export interface ImagesConfig extends ImageLimits {
  readonly directory: string;
  url(): string;
  /** The bucket that has the files; absent: the directory has them. */
  readonly bucket?: ObjectStore | null;
}

export interface ImageControlDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly allowed: OutboundAddressAllowed;
  readonly config: ImagesConfig;
}

export function createImageControl({ store, clock, sealer, allowed, config }: ImageControlDeps): ImageControl {
  const files = createImageFiles(config.directory, config.bucket ?? null);
  const processor = createImageProcessor(clock);
  const keys = createImageSigningKeys({ store, sealer });
  return {
    images: createImages({ store, clock, files, processor, limits: config, allowed, url: config.url }),
    imageVariants: createImageVariants({ store }),
    imageKeys: keys,
    imageDelivery: createImageDelivery({ store, clock, files, processor, keys }),
    imageSweep: createImageSweep({ store, clock, files }),
    imageProcessor: processor,
  };
}
