import { Button } from "@mantine/core";
import { useState } from "react";
import type { ImageVariant } from "#model/images/image-variant.ts";
import { useAccount, useRead, useWrite } from "../../api/hooks.ts";
import { useAdding } from "../../api/search.ts";
import { Confirm } from "../../parts/dialogs/confirm.tsx";
import { Icon } from "../../parts/icon.tsx";
import { List } from "../../parts/list.tsx";
import { Card, Failed, Loading, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ImageTabs } from "./image-tabs.tsx";
import { FIT_WORDS, METADATA_WORDS, VariantForm } from "./variant-form.tsx";

export function VariantsPage() {
  const account = useAccount();
  const path = account && `/accounts/${account.id}/images/v1/variants`;
  const read = useRead<{ variants: Readonly<Record<string, ImageVariant>> }>(path);
  const [isAdding, setAdding] = useAdding();
  const [editing, setEditing] = useState<ImageVariant>();
  const [removing, setRemoving] = useState<ImageVariant>();
  const remove = useWrite<unknown>(account ? `/accounts/${account.id}/images` : "-");
  return (
    <>
      <PageHead title="Images" lead="Sizes in which images are delivered. The last part of an image's address names the variant.">
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Add a variant
        </Button>
      </PageHead>
      <ImageTabs />
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !read.data ? (
          <Loading />
        ) : (
          <List<ImageVariant>
            label="Variants"
            rows={Object.values(read.data.result.variants)}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", width: "auto", cell: ({ id }) => <b>{id}</b> },
              { head: "Size", width: "120px", isFigure: true, cell: ({ options }) => `${options.width} × ${options.height}` },
              { head: "Fit", width: "auto", cell: ({ options }) => FIT_WORDS[options.fit] },
              { head: "EXIF data", width: "160px", isMinor: true, cell: ({ options }) => METADATA_WORDS[options.metadata] },
              {
                head: "Private images",
                width: "150px",
                cell: ({ neverRequireSignedURLs: isOpen }) => (isOpen ? "without a signature" : "need a signature"),
              },
              {
                head: "Action",
                width: "150px",
                cell: (variant) => (
                  <span className={tools["row"]}>
                    <Button variant="default" size="compact-xs" aria-label={`Change ${variant.id}`} onClick={() => setEditing(variant)}>
                      Change
                    </Button>
                    <Button variant="default" size="compact-xs" aria-label={`Delete ${variant.id}`} onClick={() => setRemoving(variant)}>
                      Delete
                    </Button>
                  </span>
                ),
              },
            ]}
          />
        )}
      </Card>
      {path !== undefined && (isAdding || editing) && (
        <VariantForm
          path={path}
          variant={editing}
          onClose={() => {
            setEditing(undefined);
            if (isAdding) setAdding(false);
          }}
        />
      )}
      {path !== undefined && removing && (
        <Confirm
          title={`Delete the variant ${removing.id}?`}
          action="Delete the variant"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => {
            setRemoving(undefined);
            remove.reset();
          }}
          onConfirm={() => remove.mutate({ method: "DELETE", path: `${path}/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })}
        >
          Each address that ends with /{removing.id} answers 404 at once.
        </Confirm>
      )}
    </>
  );
}
