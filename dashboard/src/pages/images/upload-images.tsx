import { Button, Switch, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type DragEvent, type FormEvent, useId, useState } from "react";
import type { Image } from "#model/images/image.ts";
import { upload } from "../../api/upload.ts";
import { Actions, Dialog } from "../../parts/dialogs/modal.tsx";
import { Fault } from "../../parts/page.tsx";
import { bytes } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import css from "./images.module.css";

/** A file or an address, and what became of it. */
interface Item {
  readonly source: File | string;
  readonly share: number;
  readonly state: "waits" | "runs" | "done" | "failed";
  readonly error?: Error;
}

const titleOf = ({ source }: Item): string => (typeof source === "string" ? source : source.name);
const KINDS = "image/jpeg,image/png,image/gif,image/webp,image/avif";

/** Sends one image after the other, so that each has the whole connection; one that fails does not stop the others. */
export function UploadImages({ base, onClose }: { readonly base: string; readonly onClose: () => void }) {
  const client = useQueryClient();
  const chooser = useId();
  const [items, setItems] = useState<readonly Item[]>([]);
  const [url, setUrl] = useState("");
  const [isSigned, setSigned] = useState(false);
  const [isOver, setOver] = useState(false);
  const isBusy = items.some(({ state }) => state === "runs");
  const waiting = items.filter(({ state }) => state === "waits" || state === "failed").length;
  const add = (sources: readonly (File | string)[]): void =>
    setItems((old) => [...old, ...sources.map((source) => ({ source, share: 0, state: "waits" as const }))]);
  const change = (at: number, next: Partial<Item>): void =>
    setItems((old) => old.map((item, index) => (index === at ? { ...item, ...next } : item)));
  const send = async (at: number, { source }: Item): Promise<boolean> => {
    const form = new FormData();
    form.set(typeof source === "string" ? "url" : "file", source);
    form.set("requireSignedURLs", String(isSigned));
    change(at, { state: "runs", share: 0 });
    try {
      await upload<Image>(`${base}`, form, (share) => change(at, { share }));
      change(at, { state: "done", share: 1 });
      return true;
    } catch (error) {
      change(at, { state: "failed", error: error as Error });
      return false;
    }
  };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const all = url.trim() === "" ? items : [...items, { source: url.trim(), share: 0, state: "waits" } as const];
    setItems(all);
    setUrl("");
    let isWhole = true;
    for (const [at, item] of all.entries()) if (item.state !== "done") isWhole = (await send(at, item)) && isWhole;
    await client.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[1]).startsWith(base.slice(0, -"/v1".length)) });
    if (isWhole) onClose();
  };
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    add([...event.dataTransfer.files]);
  };
  return (
    <Dialog title="Upload images" onClose={onClose} isFirm={isBusy} size={520}>
      <form className={tools["form"]} onSubmit={(event) => void submit(event)}>
        <div
          className={css["drop"]}
          data-over={isOver || undefined}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <label htmlFor={chooser}>Drop files here, or choose them</label>
          <input
            id={chooser}
            type="file"
            accept={KINDS}
            multiple
            data-autofocus
            disabled={isBusy}
            onChange={({ currentTarget }) => {
              add([...(currentTarget.files ?? [])]);
              currentTarget.value = "";
            }}
          />
          <span className={tools["quiet"]}>JPEG, PNG, GIF, WebP or AVIF, at most 10 MB each</span>
        </div>
        <TextInput
          label="Or its address"
          description="The server fetches it by HTTPS."
          type="url"
          placeholder="https://…"
          value={url}
          disabled={isBusy}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        />
        {items.length > 0 && (
          <ul className={css["files"]} aria-label="Images to upload">
            {items.map((item, at) => (
              <li key={at}>
                <span className={css["name"]} title={titleOf(item)}>
                  {titleOf(item)}
                </span>
                <State item={item} />
                {item.state === "failed" && item.error && (
                  <p role="alert">
                    <Fault error={item.error} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        )}
        <Switch
          label="Private: URLs need a signature"
          checked={isSigned}
          disabled={isBusy}
          onChange={({ currentTarget }) => setSigned(currentTarget.checked)}
        />
        <Actions>
          <Button variant="default" disabled={isBusy} onClick={onClose}>
            {items.some(({ state }) => state === "done") ? "Close" : "Cancel"}
          </Button>
          <Button type="submit" disabled={waiting === 0 && url.trim() === ""} loading={isBusy} loaderProps={{ type: "dots" }}>
            Upload
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}

function State({ item }: { readonly item: Item }) {
  if (item.state === "runs") return <progress value={item.share} aria-label={`Progress of ${titleOf(item)}`} />;
  if (item.state === "done") return <span className={css["done"]}>uploaded</span>;
  return <span className={tools["quiet"]}>{typeof item.source === "string" ? "an address" : bytes(item.source.size)}</span>;
}
