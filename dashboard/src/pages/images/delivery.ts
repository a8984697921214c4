import { useEffect, useState } from "react";
import type { Image } from "#model/images/image.ts";
import type { ImageKeys, ImageVariant } from "#model/images/image-variant.ts";
import { useRead } from "../../api/hooks.ts";
import { nowMs } from "../../api/now.ts";

const SIGNED_SECONDS = 3600;
/** Pixels that a thumbnail needs on a dense screen. */
const THUMBNAIL_WIDTH = 96;

/** Data with which a page shows images: the account's variants, and a key for those that need signed URLs. */
export interface Delivery {
  readonly variants: readonly ImageVariant[];
  /** Undefined without a key, or where the user may not see keys. */
  readonly key: string | undefined;
}

export function useDelivery(base: string | undefined): Delivery | undefined {
  const variants = useRead<{ variants: Readonly<Record<string, ImageVariant>> }>(base && `${base}/variants`);
  const keys = useRead<ImageKeys>(base && `${base}/keys`);
  if (!variants.data || keys.isPending) return undefined;
  return { variants: Object.values(variants.data.result.variants), key: keys.data?.result.keys[0]?.value };
}

/** The smallest variant that is large enough, then the largest one. */
function variantFor(image: Image, { variants }: Delivery): ImageVariant | undefined {
  const bySize = variants
    .filter(({ id }) => image.variants.some((url) => url.endsWith(`/${id}`)))
    .toSorted((a, b) => a.options.width * a.options.height - b.options.width * b.options.height);
  return bySize.find(({ options }) => options.width >= THUMBNAIL_WIDTH) ?? bySize.at(-1);
}

/** The path of an image's URL: the API's address delivers images too, and this page may show nothing of other origins. */
export const pathOf = (url: string): string => new URL(url).pathname;

/** The signature of a path is the HMAC-SHA-256 of it and its query, in hexadecimal. */
export async function signedPath(path: string, key: string, nowSeconds: number): Promise<string> {
  const text = new TextEncoder();
  const hmac = await crypto.subtle.importKey("raw", text.encode(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  // A whole hour, so that the browser finds the image in its cache.
  const query = `exp=${Math.ceil(nowSeconds / SIGNED_SECONDS + 1) * SIGNED_SECONDS}`;
  const signature = await crypto.subtle.sign("HMAC", hmac, text.encode(`${path}?${query}`));
  return `${path}?${query}&sig=${Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** The address of a thumbnail. Null where there cannot be one: no key, or a page without TLS, whose browser does not sign. */
export function useThumbnail(image: Image, delivery: Delivery | undefined): string | null | undefined {
  const [address, setAddress] = useState<string | null>();
  useEffect(() => {
    if (!delivery) return undefined;
    let isOver = false;
    const found = variantFor(image, delivery);
    const url = image.variants.find((one) => one.endsWith(`/${found?.id ?? ""}`));
    const show = (value: string | null): void => void (isOver || setAddress(value));
    if (!found || url === undefined || image.draft === true) show(null);
    else if (!image.requireSignedURLs || found.neverRequireSignedURLs) show(pathOf(url));
    else if (delivery.key === undefined || !isSecureContext) show(null);
    else void signedPath(pathOf(url), delivery.key, nowMs() / 1000).then(show);
    return () => void (isOver = true);
  }, [image, delivery?.key, delivery?.variants.length]);
  return address;
}
