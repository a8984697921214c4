import { type Static, Type } from "typebox";

export const IMAGE_FITS = ["scale-down", "contain", "cover", "crop", "pad"] as const;
export type ImageFit = (typeof IMAGE_FITS)[number];
export const IMAGE_METADATA = ["keep", "copyright", "none"] as const;
export type ImageMetadata = (typeof IMAGE_METADATA)[number];

const SIDE_MAX = 12_000;
const Side = Type.Integer({ minimum: 1, maximum: SIDE_MAX });
const Id = Type.String({ pattern: "^[A-Za-z0-9]{1,99}$", description: "Letters and digits." });

const Options = Type.Object({
  fit: Type.Enum([...IMAGE_FITS], {
    description:
      "scale-down: within the size, never larger than the original; contain: within the size; cover: fills the size, and is cropped; crop: like cover, never larger than the original; pad: within the size, on white.",
  }),
  width: Side,
  height: Side,
  metadata: Type.Enum([...IMAGE_METADATA], { description: "The EXIF data that stays: all, the copyright only, or none." }),
});
export type ImageVariantOptions = Static<typeof Options>;
const NeverSigned = Type.Boolean({ description: "Whether images that need signed URLs need none in this variant." });

export const ImageVariant = Type.Object({ id: Id, options: Options, neverRequireSignedURLs: NeverSigned });
export type ImageVariant = Static<typeof ImageVariant>;

export const ImageVariantCreate = Type.Object({ id: Id, options: Options, neverRequireSignedURLs: Type.Optional(NeverSigned) });
export type ImageVariantCreate = Static<typeof ImageVariantCreate>;

export const ImageVariantEdit = Type.Object({
  options: Type.Optional(Type.Partial(Options)),
  neverRequireSignedURLs: Type.Optional(NeverSigned),
});
export type ImageVariantEdit = Static<typeof ImageVariantEdit>;

export const ImageVariantView = Type.Object({ variant: ImageVariant });
export const ImageVariantList = Type.Object({ variants: Type.Record(Type.String(), ImageVariant) });

/** Every account has it until it makes another of this name. */
export const PUBLIC_VARIANT: ImageVariant = {
  id: "public",
  options: { fit: "scale-down", width: 1366, height: 768, metadata: "none" },
  neverRequireSignedURLs: false,
};

export const ImageKeys = Type.Object({ keys: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })) });
export type ImageKeys = Static<typeof ImageKeys>;
