import { useState } from "react";
import type { Image } from "#model/images/image.ts";
import { Icon } from "../../parts/icon.tsx";
import { type Delivery, useThumbnail } from "./delivery.ts";
import css from "./images.module.css";

/** A picture, or the reason for its absence. */
export function Thumbnail({ image, delivery }: { readonly image: Image; readonly delivery: Delivery | undefined }) {
  const address = useThumbnail(image, delivery);
  const [isBroken, setBroken] = useState(false);
  return (
    <span className={css["picture"]}>
      {address === null || isBroken ? (
        <Icon name={image.requireSignedURLs ? "key" : "image"} size={24} />
      ) : (
        address !== undefined && <img src={address} alt="" loading="lazy" onError={() => setBroken(true)} />
      )}
    </span>
  );
}
