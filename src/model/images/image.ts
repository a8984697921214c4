import { type Static, Type } from "typebox";

const ID_CHARACTERS_MAX = 255;
const CREATOR_MAX = 1024;
const Creator = Type.String({ maxLength: CREATOR_MAX, description: "Any text by which the account finds the images of its users." });
const Meta = Type.Object({}, { additionalProperties: true, description: "Any JSON object of at most 1,024 bytes." });
const Signed = Type.Boolean({ description: "Whether URLs of the image need a signature." });
const Expiry = Type.String({
  format: "date-time",
  description: "When the URL ends: in 2 minutes to 6 hours. Absent: in 30 minutes.",
});

export const Image = Type.Object({
  id: Type.String({ maxLength: ID_CHARACTERS_MAX }),
  filename: Type.Optional(Type.String({ maxLength: 255 })),
  meta: Type.Optional(Meta),
  creator: Type.Optional(Type.Union([Creator, Type.Null()])),
  uploaded: Type.String({ format: "date-time" }),
  requireSignedURLs: Signed,
  draft: Type.Optional(Type.Boolean({ description: "True until the file of a direct upload has arrived." })),
  variants: Type.Array(Type.String({ format: "uri" }), { description: "The image's URL in each variant." }),
});
export type Image = Static<typeof Image>;

export const ImageList = Type.Object({ images: Type.Array(Image) });
export type ImageList = Static<typeof ImageList>;

export const ImageListPage = Type.Object({
  images: Type.Array(Image),
  continuation_token: Type.Union([Type.String(), Type.Null()], { description: "Of the next page; null at the end." }),
});
export type ImageListPage = Static<typeof ImageListPage>;

export const ImageListQuery = Type.Object({
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  per_page: Type.Optional(Type.Integer({ minimum: 10, maximum: 10_000 })),
  creator: Type.Optional(Creator),
});

export const ImageCursorQuery = Type.Object({
  continuation_token: Type.Optional(Type.String({ maxLength: 600 })),
  per_page: Type.Optional(Type.Integer({ minimum: 10, maximum: 10_000 })),
  sort_order: Type.Optional(Type.Enum(["asc", "desc"], { description: "By the time of upload; default desc." })),
  creator: Type.Optional(Creator),
});
export type ImageCursorQuery = Static<typeof ImageCursorQuery>;

/** Fields of forms are texts. */
const FormFields = {
  id: Type.Optional(
    Type.String({ maxLength: ID_CHARACTERS_MAX, description: "The image's identifier: letters, digits, . _ ~ and -. Absent: a UUID." }),
  ),
  metadata: Type.Optional(Type.String({ description: "A JSON object of at most 1,024 bytes." })),
  requireSignedURLs: Type.Optional(Type.String({ pattern: "^(?:[Tt]rue|[Ff]alse)?$" })),
  creator: Type.Optional(Creator),
};

export const ImageUpload = Type.Object({
  file: Type.Optional(Type.String({ format: "binary", description: "The image; or `url`." })),
  url: Type.Optional(Type.String({ maxLength: 2048, description: "Where the server fetches the image from; or `file`." })),
  ...FormFields,
});

export const ImageEdit = Type.Object({
  metadata: Type.Optional(Meta),
  requireSignedURLs: Type.Optional(Signed),
  creator: Type.Optional(Creator),
});
export type ImageEdit = Static<typeof ImageEdit>;

export const DirectUploadForm = Type.Object({ expiry: Type.Optional(Expiry), ...FormFields });

/** The interface until 2022-07-01 (SPEC 9). */
export const DirectUploadCreate = Type.Object({ expiry: Type.Optional(Expiry) });

export const DirectUpload = Type.Object({
  id: Type.String({ maxLength: ID_CHARACTERS_MAX }),
  uploadURL: Type.String({ format: "uri", description: "Takes one `POST` of a form with the field `file`, without credentials." }),
});
export type DirectUpload = Static<typeof DirectUpload>;

export const ImageStats = Type.Object({ count: Type.Object({ current: Type.Integer(), allowed: Type.Integer() }) });
export type ImageStats = Static<typeof ImageStats>;

/** Properties of a new image, besides its file. */
export interface NewImage {
  readonly id?: string | undefined;
  readonly meta: object;
  readonly signed: boolean;
  readonly creator: string | null;
}

/** The bytes of an upload, with the name that the client gave them. */
export interface ImageFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export const IMAGE_ID = /^[A-Za-z0-9._~-]{1,255}$/;
