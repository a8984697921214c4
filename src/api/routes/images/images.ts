import { Type } from "typebox";
import { imageFileOf, newImageOf } from "#api/images/image-uploads.ts";
import { type Route, route } from "#api/route.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  DirectUpload,
  DirectUploadCreate,
  DirectUploadForm,
  Image,
  ImageCursorQuery,
  ImageEdit,
  ImageList,
  ImageListPage,
  ImageListQuery,
  ImageStats,
  ImageUpload,
} from "#model/images/image.ts";

const IMAGES = "/accounts/:account_id/images";
const COLLECTION = `${IMAGES}/v1` as const;
const IMAGE = `${COLLECTION}/:image_id` as const;

const read = { method: "GET", scope: "account", permissions: ["Images Read", "Images Write"], paging: "one" } as const;
const write = { scope: "account", permissions: ["Images Write"], paging: "one" } as const;

const LIST_DEFAULT = 1000;
/** Ends of the fields in which published clients send an object: `metadata[album]`. */
const FORM_OBJECTS = ["]"];

export const IMAGE_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: COLLECTION,
    id: "images-list",
    summary: "List images, newest first",
    query: ImageListQuery,
    result: ImageList,
    handler: ({ control, params, query: { page = 1, per_page = LIST_DEFAULT, creator } }) =>
      control.images.list(params.account_id, { page, per_page, ...(creator === undefined ? {} : { creator }) }),
  }),
  route({
    ...read,
    path: `${IMAGES}/v2`,
    id: "images-list-after",
    summary: "List images, with a continuation token",
    query: ImageCursorQuery,
    result: ImageListPage,
    handler: ({ control, params, query }) => control.images.listAfter(params.account_id, query),
  }),
  route({
    ...write,
    method: "POST",
    path: COLLECTION,
    id: "images-create",
    summary: "Upload an image, as a file or by its URL",
    body: ImageUpload,
    drops_unknown: FORM_OBJECTS,
    body_type: "multipart",
    file_field: "file",
    limits: "image_upload",
    result: Image,
    handler: ({ control, call, params, body, file }) => {
      const image = newImageOf(body);
      if (file !== undefined && body.url !== undefined)
        throw new PlatformError("image_input", { message: "The form has both a file and a URL.", source: "/url" });
      return body.url === undefined
        ? control.images.upload(call, params.account_id, imageFileOf(file), image)
        : control.images.uploadFrom(call, params.account_id, body.url, image);
    },
  }),
  route({
    ...read,
    path: `${COLLECTION}/stats`,
    id: "images-stats",
    summary: "Count images",
    result: ImageStats,
    handler: ({ control, params }) => control.images.stats(params.account_id),
  }),
  route({
    ...write,
    method: "POST",
    path: `${IMAGES}/v2/direct_upload`,
    id: "images-direct-upload-create",
    summary: "Create a URL that takes one image without credentials",
    body: DirectUploadForm,
    drops_unknown: FORM_OBJECTS,
    body_type: "multipart",
    limits: "image_upload",
    result: DirectUpload,
    handler: ({ control, call, params, body }) => control.images.directUpload(call, params.account_id, newImageOf(body), body.expiry),
  }),
  route({
    ...write,
    method: "POST",
    path: `${COLLECTION}/direct_upload`,
    id: "images-direct-upload-create-v1",
    summary: "Create a URL that takes one image, without properties",
    body: DirectUploadCreate,
    drops_unknown: [],
    result: DirectUpload,
    handler: ({ control, call, params, body }) => control.images.directUpload(call, params.account_id, newImageOf({}), body.expiry),
  }),
  route({
    ...read,
    path: IMAGE,
    id: "images-get",
    summary: "Show an image",
    result: Image,
    handler: ({ control, params }) => control.images.get(params.account_id, params.image_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: IMAGE,
    id: "images-edit",
    summary: "Change the properties of an image",
    body: ImageEdit,
    drops_unknown: [],
    result: Image,
    handler: ({ control, call, params, body }) => control.images.edit(call, params.account_id, params.image_id, body),
  }),
  route({
    ...write,
    method: "DELETE",
    path: IMAGE,
    id: "images-delete",
    summary: "Delete an image and its file",
    result: Type.Object({}),
    handler: async ({ control, call, params }) => {
      await control.images.remove(call, params.account_id, params.image_id);
      return {};
    },
  }),
  route({
    ...read,
    path: `${IMAGE}/blob`,
    id: "images-blob",
    summary: "Download the file of an image as it was uploaded",
    result: Type.String({ format: "binary" }),
    paging: "raw",
    media_type: "image/*",
    handler: async ({ control, params }) => {
      const { type, bytes } = await control.images.blob(params.account_id, params.image_id);
      return { type, body: bytes };
    },
  }),
];
