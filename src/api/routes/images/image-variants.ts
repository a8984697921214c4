import { Type } from "typebox";
import { type Route, route } from "#api/route.ts";
import {
  ImageKeys,
  ImageVariant,
  ImageVariantCreate,
  ImageVariantEdit,
  ImageVariantList,
  ImageVariantView,
} from "#model/images/image-variant.ts";

const VARIANTS = "/accounts/:account_id/images/v1/variants";
const VARIANT = `${VARIANTS}/:variant_id` as const;
const KEYS = "/accounts/:account_id/images/v1/keys";
const KEY = `${KEYS}/:signing_key_name` as const;

const read = { method: "GET", scope: "account", permissions: ["Images Read", "Images Write"], paging: "one" } as const;
const write = { scope: "account", permissions: ["Images Write"], paging: "one" } as const;

export const IMAGE_VARIANT_ROUTES: readonly Route[] = [
  route({
    ...read,
    path: VARIANTS,
    id: "image-variants-list",
    summary: "List variants of images",
    result: ImageVariantList,
    handler: async ({ control, params }) => ({
      variants: Object.fromEntries((await control.imageVariants.list(params.account_id)).map((variant) => [variant.id, variant])),
    }),
  }),
  route({
    ...write,
    method: "POST",
    path: VARIANTS,
    id: "image-variants-create",
    summary: "Create a variant of images",
    body: ImageVariantCreate,
    drops_unknown: [],
    result: ImageVariantView,
    handler: async ({ control, call, params, body }) => ({
      variant: await control.imageVariants.create(call, params.account_id, body),
    }),
  }),
  route({
    ...read,
    path: VARIANT,
    id: "image-variants-get",
    summary: "Show a variant of images",
    result: ImageVariantView,
    handler: async ({ control, params }) => ({ variant: await control.imageVariants.get(params.account_id, params.variant_id) }),
  }),
  route({
    ...read,
    path: `${VARIANT}/flat`,
    id: "image-variants-get-flat",
    summary: "Show a variant of images without an outer object",
    result: ImageVariant,
    handler: ({ control, params }) => control.imageVariants.get(params.account_id, params.variant_id),
  }),
  route({
    ...write,
    method: "PATCH",
    path: VARIANT,
    id: "image-variants-edit",
    summary: "Change a variant of images",
    body: ImageVariantEdit,
    drops_unknown: [],
    result: ImageVariantView,
    handler: async ({ control, call, params, body }) => ({
      variant: await control.imageVariants.edit(call, params.account_id, params.variant_id, body),
    }),
  }),
  route({
    ...write,
    method: "DELETE",
    path: VARIANT,
    id: "image-variants-delete",
    summary: "Delete a variant of images",
    result: Type.Object({}),
    handler: async ({ control, call, params }) => {
      await control.imageVariants.remove(call, params.account_id, params.variant_id);
      return {};
    },
  }),
  route({
    ...write,
    method: "GET",
    path: KEYS,
    id: "image-keys-list",
    summary: "List the keys that sign URLs of images",
    result: ImageKeys,
    handler: ({ control, params }) => control.imageKeys.list(params.account_id),
  }),
  route({
    ...write,
    method: "PUT",
    path: KEY,
    id: "image-keys-create",
    summary: "Create a key that signs URLs of images",
    result: ImageKeys,
    handler: ({ control, call, params }) => control.imageKeys.create(call, params.account_id, params.signing_key_name),
  }),
  route({
    ...write,
    method: "DELETE",
    path: KEY,
    id: "image-keys-delete",
    summary: "Delete a key that signs URLs of images",
    result: ImageKeys,
    handler: ({ control, call, params }) => control.imageKeys.remove(call, params.account_id, params.signing_key_name),
  }),
];
