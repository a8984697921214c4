import { TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import type { Zone } from "#model/zones/zone.ts";
import { useRead } from "../api/hooks.ts";
import { Icon } from "../parts/icon.tsx";
import { Dialog } from "../parts/dialogs/modal.tsx";
import { asciiName, shownName } from "../api/names.ts";
import { ACCOUNT_ACTIONS, ACCOUNT_PAGES, ACCOUNT_PLACES, ZONE_ACTIONS, ZONE_PAGES } from "./pages.ts";
import css from "./palette.module.css";

interface Entry {
  readonly title: string;
  readonly detail: string;
  readonly to?: string;
  readonly zone?: string;
  readonly search?: Readonly<Record<string, string>>;
  readonly run?: () => void;
}

/** An action that a button of the header has, too. */
export interface PaletteAction {
  readonly title: string;
  readonly run: () => void;
}

interface PaletteProps {
  readonly onClose: () => void;
  readonly zone: string | undefined;
  readonly actions: readonly PaletteAction[];
}

const SHOWN_MAX = 12;
const ZONES_MAX = 8;

const pagesOf = (zone: string): readonly Entry[] => [
  ...ZONE_PAGES.flatMap(({ group, pages }) =>
    pages.map(({ title, to }) => ({ title, detail: group === "" ? shownName(zone) : `${group} of ${shownName(zone)}`, to, zone })),
  ),
  ...ZONE_ACTIONS.map((action) => ({ ...action, detail: `to ${shownName(zone)}`, zone })),
];

/** Ctrl K: to a zone, a page of it, a page of the account, or to a form. */
export function Palette({ onClose, zone, actions }: PaletteProps) {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  useEffect(() => {
    // Of several words the last one is of the zone: "purge shop".
    const timer = setTimeout(() => setAsked(asciiName(text.trim().split(/\s+/).at(-1) ?? "")), 120);
    return () => clearTimeout(timer);
  }, [text]);
  const path = `/zones?per_page=${ZONES_MAX}&order=name`;
  const first = useRead<Zone[]>(path);
  const found = useRead<Zone[]>(asked === "" ? path : `${path}&name=contains:${encodeURIComponent(asked)}`, { keepsPrevious: true });
  const entries = useMemo(() => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const known = new Map([...(found.data?.result ?? []), ...(first.data?.result ?? [])].map((one) => [one.name, one]));
    const zones: Entry[] = [...known.values()].map(({ name, status }) => ({
      title: shownName(name),
      detail: `Zone, ${status}`,
      to: "/zones/$zone",
      zone: name,
    }));
    const others = [...known.keys()].filter((name) => name !== zone);
    const account: Entry[] = [...ACCOUNT_PAGES, ...ACCOUNT_PLACES].map(({ title, to }) => ({ title, detail: "Account", to }));
    const todo: Entry[] = [...ACCOUNT_ACTIONS, ...actions].map((action) => ({ ...action, detail: "Action" }));
    return [
      ...(zone === undefined ? [] : pagesOf(zone)),
      ...zones,
      ...account,
      ...todo,
      ...(words.length === 0 ? [] : others.flatMap(pagesOf)),
    ]
      .filter(({ title, detail, zone: of = "" }) => words.every((word) => `${title} ${detail} ${of}`.toLowerCase().includes(word)))
      .slice(0, SHOWN_MAX);
  }, [found.data, first.data, text, zone, actions]);
  const go = (entry: Entry | undefined): void => {
    if (!entry) return;
    onClose();
    entry.run?.();
    const { to, search = {} } = entry;
    if (to !== undefined) void navigate({ to, params: entry.zone === undefined ? {} : { zone: entry.zone }, search } as never);
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
        aria-label="Zone, page or action"
        placeholder="shop.example, records, add a zone …"
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
            key={`${entry.title} ${entry.to ?? "run"} ${entry.zone}`}
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
      {entries.length === 0 && !found.isFetching && <p role="status">No zone, page or action has these words in its name.</p>}
    </Dialog>
  );
}
