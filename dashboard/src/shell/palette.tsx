import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../api/hooks.ts";
import { Icon } from "../parts/icon.tsx";
import { Dialog } from "../parts/modal.tsx";
import { ACCOUNT_PAGES, ACCOUNT_PLACES, ZONE_PAGES } from "./pages.ts";
import css from "./palette.module.css";

interface Entry {
  readonly title: string;
  readonly detail: string;
  readonly to: string;
  readonly zone?: string;
}

const SHOWN_MAX = 12;

/** Ctrl K: to a zone, a page of it, or a page of the account. */
export function Palette({ onClose, zone }: { readonly onClose: () => void; readonly zone: string | undefined }) {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.trim()), 120);
    return () => clearTimeout(timer);
  }, [text]);
  const found = useRead<Zone[]>(`/zones?per_page=8&order=name${asked === "" ? "" : `&name=contains:${encodeURIComponent(asked)}`}`, {
    keepsPrevious: true,
  });
  const entries = useMemo(() => {
    const zones: Entry[] = (found.data?.result ?? []).map(({ name, status }) => ({
      title: name,
      detail: `Zone, ${status}`,
      to: "/zones/$zone",
      zone: name,
    }));
    const here: Entry[] =
      zone === undefined
        ? []
        : ZONE_PAGES.flatMap(({ group, pages }) =>
            pages.map(({ title, to }) => ({ title, detail: group === "" ? zone : `${group} of ${zone}`, to, zone })),
          );
    const account: Entry[] = [...ACCOUNT_PAGES, ...ACCOUNT_PLACES].map(({ title, to }) => ({ title, detail: "Account", to }));
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return [...here, ...zones, ...account]
      .filter(({ title, detail }) => words.every((word) => `${title} ${detail}`.toLowerCase().includes(word)))
      .slice(0, SHOWN_MAX);
  }, [found.data, text, zone]);
  const go = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    void navigate({ to: entry.to, params: entry.zone === undefined ? {} : { zone: entry.zone }, search: {} } as never);
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setAt((old) => Math.max(0, Math.min(old + step, entries.length - 1)));
    } else if (event.key === "Enter") go(entries[at]);
  };
  return (
    <Dialog title="Go to" onClose={onClose} size={560}>
      <TextInput
        aria-label="Zone or page"
        placeholder="shop.example, records, tokens …"
        leftSection={<Icon name="search" size={16} />}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
        role="combobox"
        aria-expanded
        aria-controls="palette"
        aria-activedescendant={entries[at] ? `palette-${at}` : undefined}
        data-autofocus
      />
      <ul id="palette" role="listbox" aria-label="Places" className={css["list"]}>
        {entries.map((entry, index) => (
          <li
            key={`${entry.title} ${entry.to} ${entry.zone}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => go(entry)}
            onMouseMove={() => setAt(index)}
          >
            <span>{entry.title}</span>
            <i>{entry.detail}</i>
          </li>
        ))}
      </ul>
      {entries.length === 0 && !found.isFetching && <p role="status">No zone and no page has these words in its name.</p>}
    </Dialog>
  );
}
