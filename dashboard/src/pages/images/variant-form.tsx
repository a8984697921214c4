import { Switch, TextInput } from "@mantine/core";
import { useState } from "react";
import type { ImageFit, ImageMetadata, ImageVariant } from "#model/images/image-variant.ts";
import { ApiError } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";

export const FIT_WORDS: Readonly<Record<ImageFit, string>> = {
  "scale-down": "fits in, never larger than the original",
  contain: "fits in",
  cover: "fills the size, cropped",
  crop: "fills the size, cropped, never larger",
  pad: "fits in, on white",
};
export const METADATA_WORDS: Readonly<Record<ImageMetadata, string>> = {
  keep: "all is kept",
  copyright: "only the copyright",
  none: "removed",
};

interface VariantFormProps {
  readonly path: string;
  /** Undefined for a new one. */
  readonly variant: ImageVariant | undefined;
  readonly onClose: () => void;
}

export function VariantForm({ path, variant, onClose }: VariantFormProps) {
  const [id, setId] = useState(variant?.id ?? "");
  const [width, setWidth] = useState(String(variant?.options.width ?? 320));
  const [height, setHeight] = useState(String(variant?.options.height ?? 240));
  const [fit, setFit] = useState<ImageFit>(variant?.options.fit ?? "scale-down");
  const [metadata, setMetadata] = useState<ImageMetadata>(variant?.options.metadata ?? "none");
  const [isOpen, setOpen] = useState(variant?.neverRequireSignedURLs ?? false);
  const write = useWrite<unknown>(path.slice(0, -"/v1/variants".length));
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const isBesideField = ["id", "options.width", "options.height"].some((name) => faults[name] !== undefined);
  const submit = (): void => {
    const body = { options: { fit, width: Number(width), height: Number(height), metadata }, neverRequireSignedURLs: isOpen };
    write.mutate(
      variant ? { method: "PATCH", path: `${path}/${variant.id}`, body } : { method: "POST", path, body: { id: id.trim(), ...body } },
      { onSuccess: onClose },
    );
  };
  return (
    <FormDialog
      title={variant ? `Change ${variant.id}` : "Add a variant"}
      onClose={onClose}
      submit={variant ? "Save" : "Add the variant"}
      onSubmit={submit}
      isPending={write.isPending}
    >
      {!variant && (
        <TextInput
          label="Name"
          description="Letters and digits."
          placeholder="thumbnail"
          value={id}
          error={faults["id"]?.message}
          onChange={({ currentTarget }) => setId(currentTarget.value)}
          required
          data-autofocus
        />
      )}
      <div className={tools["two"]}>
        <TextInput
          label="Width"
          description="Pixels"
          inputMode="numeric"
          value={width}
          error={faults["options.width"]?.message}
          onChange={({ currentTarget }) => setWidth(currentTarget.value)}
          required
        />
        <TextInput
          label="Height"
          description="Pixels"
          inputMode="numeric"
          value={height}
          error={faults["options.height"]?.message}
          onChange={({ currentTarget }) => setHeight(currentTarget.value)}
          required
        />
      </div>
      <div className={tools["two"]}>
        <Choice label="Fit" value={fit} options={entriesOf(FIT_WORDS)} onChange={setFit} />
        <Choice label="EXIF data" value={metadata} options={entriesOf(METADATA_WORDS)} onChange={setMetadata} />
      </div>
      <Switch
        label="Deliver private images without a signature in this size"
        checked={isOpen}
        onChange={({ currentTarget }) => setOpen(currentTarget.checked)}
      />
      {write.error && !isBesideField && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}

const entriesOf = <T extends string>(words: Readonly<Record<T, string>>): readonly (readonly [T, string])[] =>
  Object.entries(words) as [T, string][];
