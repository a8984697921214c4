import { createStreamLimiter } from "#control/events/stream-limiter.ts";
import { fetchOutbound, type OutboundAddressAllowed, readOutboundUrl } from "#control/outbound.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ImageFile } from "#model/images/image.ts";
import { IMAGE_BYTES_MAX } from "./image-facts.ts";

const TOTAL_MS = 15_000;
/** Each may hold a whole file in memory, for as long as the other server takes. */
const FETCHES = { ofOne: 8, ofAll: 24, takers: "images", what: "be fetched" } as const;

/** Fetches images that accounts name by URL, from addresses that webhooks may have too. Throws `image_input` or `image_not_fetched`. */
export function imageFetcher(allowed: OutboundAddressAllowed) {
  const places = createStreamLimiter(FETCHES);
  return async (accountId: string, text: string): Promise<ImageFile> => {
    const url = readOutboundUrl(text, allowed);
    if ("problem" in url) throw new PlatformError("image_input", { message: `The URL ${url.problem}.`, source: "/url" });
    const message = { url, headers: { accept: "image/*" }, totalMs: TOTAL_MS, bytesMax: IMAGE_BYTES_MAX };
    const leave = places.take(accountId);
    const bytes = await fetchOutbound(message, allowed)
      .catch((error: unknown) => {
        throw new PlatformError("image_not_fetched", {
          message: `The image could not be fetched: ${(error as Error).message}.`,
          source: "/url",
        });
      })
      .finally(leave);
    if (bytes === null) throw new PlatformError("image_not_fetched", { source: "/url" });
    return { name: decodedName(url), bytes };
  };
}

/** The last part of the path. */
function decodedName({ pathname }: URL): string {
  const name = pathname.slice(pathname.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
