import { Button, Switch } from "@mantine/core";
import { useState } from "react";
import type { Image } from "#model/images/image.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { CopyBlock } from "../../parts/copy-block.tsx";
import { Actions, Dialog } from "../../parts/dialogs/modal.tsx";
import { Facts, Failed, Fault, Loading, Notice } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import type { Delivery } from "./delivery.ts";
import { Thumbnail } from "./thumbnail.tsx";
import css from "./images.module.css";

interface DetailsProps {
  readonly base: string;
  readonly id: string;
  readonly delivery: Delivery | undefined;
  readonly onClose: () => void;
}

/** One image: its addresses in each variant, whether they need a signature, and the end of it. */
export function ImageDetails({ base, id, delivery, onClose }: DetailsProps) {
  const path = `${base}/${encodeURIComponent(id)}`;
  const all = base.slice(0, -"/v1".length);
  const read = useRead<Image>(path);
  const change = useWrite<Image>(all);
  const remove = useWrite<unknown>(all);
  const [isRemoving, setRemoving] = useState(false);
  const image = read.data?.result;
  const title = image?.filename ?? id;
  if (isRemoving)
    return (
      <Confirm
        title={`Delete ${title}?`}
        action="Delete the image"
        error={remove.error}
        isPending={remove.isPending}
        onClose={() => setRemoving(false)}
        onConfirm={() => remove.mutate({ method: "DELETE", path }, { onSuccess: onClose })}
      >
        Its file is deleted, and its addresses answer 404 at once. This cannot be undone.
      </Confirm>
    );
  return (
    <Dialog title={title} onClose={onClose} size={560}>
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !image ? (
        <Loading />
      ) : (
        <div className={tools["form"]}>
          <div className={css["large"]}>
            <Thumbnail image={image} delivery={delivery} />
          </div>
          <Facts
            of={[
              ["Identifier", <span className={tools["mono"]}>{image.id}</span>],
              ["Uploaded", <Time of={image.uploaded} />],
              ...(image.creator ? [["Creator", image.creator] as const] : []),
            ]}
          />
          <CopyBlock label="addresses of the image" text={image.variants.join("\n")} />
          <Switch
            label="Private: URLs need a signature"
            description="Except in variants that never need one. The change holds at once."
            checked={image.requireSignedURLs}
            disabled={change.isPending}
            onChange={({ currentTarget }) => change.mutate({ method: "PATCH", path, body: { requireSignedURLs: currentTarget.checked } })}
          />
          {change.error && (
            <Notice tone="bad">
              <Fault error={change.error} />
            </Notice>
          )}
          <Actions>
            <Button variant="default" component="a" href={`/client/v4${path}/blob`} download={title}>
              Download the original
            </Button>
            <Button color="red" variant="light" onClick={() => setRemoving(true)}>
              Delete
            </Button>
          </Actions>
        </div>
      )}
    </Dialog>
  );
}
