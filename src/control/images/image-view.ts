import { deliveryUrl } from "#kernel/net/image-urls.ts";
import type { Image } from "#model/images/image.ts";
import { PUBLIC_VARIANT } from "#model/images/image-variant.ts";
import type { Store } from "#store/database/store.ts";
import type { ImageRow } from "#store/images/images.ts";
import { variantsOfAccount } from "#store/images/image-variants.ts";

/** Images as the API shows them. */
export interface ImageViews {
  of(row: ImageRow): Promise<Image>;
  all(accountId: string, rows: readonly ImageRow[]): Promise<Image[]>;
}

export function createImageViews(store: Store, url: () => string): ImageViews {
  const variantNames = async (accountId: string): Promise<readonly string[]> => [
    ...new Set([PUBLIC_VARIANT.id, ...(await variantsOfAccount(store.read, accountId)).map(({ id }) => id)]),
  ];
  const view = (row: ImageRow, variants: readonly string[]): Image => ({
    id: row.id,
    ...(row.filename === null ? {} : { filename: row.filename }),
    meta: JSON.parse(row.meta) as object,
    creator: row.creator,
    uploaded: row.uploaded_on,
    requireSignedURLs: row.signed === 1,
    ...(row.blob_id === null ? { draft: true } : {}),
    variants: variants.map((variant) => deliveryUrl(url(), row.account_id, row.id, variant)),
  });
  return {
    of: async (row) => view(row, await variantNames(row.account_id)),
    all: async (accountId, rows) => {
      const names = await variantNames(accountId);
      return rows.map((row) => view(row, names));
    },
  };
}
