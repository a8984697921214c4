import type { Kysely } from "kysely";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import {
  type ImageFit,
  type ImageMetadata,
  type ImageVariant,
  type ImageVariantCreate,
  type ImageVariantEdit,
  type ImageVariantOptions,
  PUBLIC_VARIANT,
} from "#model/images/image-variant.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { deleteVariant, findVariant, type ImageVariantRow, putVariant, variantsOfAccount } from "#store/images/image-variants.ts";
import type { Tables } from "#store/queries/tables.ts";
import { VARIANT_PIXELS_MAX } from "./image-facts.ts";

/** Sizes in which an account's images are delivered. Throws `image_variant_not_found` for an unknown one. */
export interface ImageVariants {
  list(accountId: string): Promise<readonly ImageVariant[]>;
  get(accountId: string, id: string): Promise<ImageVariant>;
  /** Throws `image_exists` or `image_quota`. */
  create(call: Call, accountId: string, body: ImageVariantCreate): Promise<ImageVariant>;
  edit(call: Call, accountId: string, id: string, body: ImageVariantEdit): Promise<ImageVariant>;
  /** The variant `public` gets its default options back. */
  remove(call: Call, accountId: string, id: string): Promise<void>;
}

const PER_ACCOUNT_MAX = 100;

export function createImageVariants({ store }: { readonly store: Store }): ImageVariants {
  const audit = (unit: Unit, call: Call, verb: string, accountId: string, before: ImageVariant | null, after: ImageVariant | null): void =>
    unit.audit({
      ...{ action: `image_variant.${verb}`, actor: auditActor(call), account_id: accountId, zone_id: null },
      ...{ resource: { type: "image_variant", id: (after ?? before)?.id ?? "" }, before, after },
    });

  return {
    list: async (accountId) => {
      const own = (await variantsOfAccount(store.read, accountId)).map(viewOf);
      return own.some(({ id }) => id === PUBLIC_VARIANT.id) ? own : [PUBLIC_VARIANT, ...own];
    },
    get: (accountId, id) => variantNamed(store.read, accountId, id),
    create: (call, accountId, { id, options: given, neverRequireSignedURLs = false }) =>
      commit({ store }, call, async (unit) => {
        const options = checked(given);
        const own = await variantsOfAccount(unit.db, accountId);
        if (own.some((row) => row.id === id)) throw new PlatformError("image_exists", { source: "/id" });
        if (own.length >= PER_ACCOUNT_MAX)
          throw new PlatformError("image_quota", { message: `An account can have ${PER_ACCOUNT_MAX} variants.` });
        const made = { id, options, neverRequireSignedURLs };
        await putVariant(unit.db, rowOf(accountId, made));
        audit(unit, call, "create", accountId, null, made);
        return made;
      }),
    edit: (call, accountId, id, { options, neverRequireSignedURLs }) =>
      commit({ store }, call, async (unit) => {
        const before = await variantNamed(unit.db, accountId, id);
        const after = {
          id,
          options: checked({ ...before.options, ...options }),
          neverRequireSignedURLs: neverRequireSignedURLs ?? before.neverRequireSignedURLs,
        };
        await putVariant(unit.db, rowOf(accountId, after));
        audit(unit, call, "edit", accountId, before, after);
        return after;
      }),
    remove: (call, accountId, id) =>
      commit({ store }, call, async (unit) => {
        const before = await variantNamed(unit.db, accountId, id);
        await deleteVariant(unit.db, accountId, id);
        audit(unit, call, "delete", accountId, before, null);
      }),
  };
}

/** The options without members that have no meaning. Throws `image_input`. */
function checked({ fit, width, height, metadata }: ImageVariantOptions): ImageVariantOptions {
  if (width * height > VARIANT_PIXELS_MAX)
    throw new PlatformError("image_input", {
      message: `width × height must be at most ${VARIANT_PIXELS_MAX.toLocaleString("en")} pixels; ${width} × ${height} is ${(width * height).toLocaleString("en")}.`,
      source: "/options",
    });
  return { fit, width, height, metadata };
}

/** Throws `image_variant_not_found`. */
export async function variantNamed(db: Kysely<Tables>, accountId: string, id: string): Promise<ImageVariant> {
  const row = await findVariant(db, accountId, id);
  if (row !== undefined) return viewOf(row);
  if (id === PUBLIC_VARIANT.id) return PUBLIC_VARIANT;
  throw new PlatformError("image_variant_not_found");
}

const viewOf = ({ id, never_signed: never, fit, width, height, metadata }: ImageVariantRow): ImageVariant => ({
  id,
  options: { fit: fit as ImageFit, width, height, metadata: metadata as ImageMetadata },
  neverRequireSignedURLs: never === 1,
});

const rowOf = (accountId: string, { id, options, neverRequireSignedURLs }: ImageVariant): ImageVariantRow => ({
  ...{ account_id: accountId, id, never_signed: Number(neverRequireSignedURLs) },
  ...{ fit: options.fit, width: options.width, height: options.height, metadata: options.metadata },
});
