/** Paths of images at the edge and at the API. */
export const DELIVERY_PATH = "/cdn-cgi/imagedelivery/";
export const UPLOAD_PATH = "/cdn-cgi/imageupload/";

/** The account in the URLs of its images: its identifier in 22 characters. */
export const accountHash = (accountId: string): string => Buffer.from(accountId, "hex").toString("base64url");

/** The account of a hash; null if it cannot be one. */
export function accountOfHash(hash: string): string | null {
  const id = Buffer.from(hash, "base64url").toString("hex");
  return /^[\w-]{22}$/.test(hash) && accountHash(id) === hash ? id : null;
}

export const deliveryUrl = (base: string, accountId: string, imageId: string, variant: string): string =>
  `${base}${DELIVERY_PATH}${accountHash(accountId)}/${imageId}/${variant}`;

export const uploadUrl = (base: string, accountId: string, secret: string): string =>
  `${base}${UPLOAD_PATH}${accountHash(accountId)}/${secret}`;
