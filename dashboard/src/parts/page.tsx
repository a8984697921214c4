import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { ApiError } from "../api/client.ts";
import { Icon } from "./icon.tsx";
import css from "./page.module.css";

interface HeadProps {
  readonly title: ReactNode;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

export const PageHead = ({ title, lead, children }: HeadProps) => (
  <div className={css["head"]}>
    <div>
      <h1>{title}</h1>
      {lead !== undefined && <p className={css["lead"]}>{lead}</p>}
    </div>
    {children !== undefined && <div className={css["actions"]}>{children}</div>}
  </div>
);

export const Card = ({
  title,
  aside,
  children,
}: {
  readonly title?: ReactNode;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}) => (
  <section className={css["card"]}>
    {title !== undefined && (
      <header className={css["cardHead"]}>
        <h2>{title}</h2>
        {aside}
      </header>
    )}
    {children}
  </section>
);

export type Tone = "good" | "warn" | "bad" | "plain" | "accent";

export const Badge = ({ tone = "plain", children }: { readonly tone?: Tone; readonly children: ReactNode }) => (
  <span className={css["badge"]} data-tone={tone}>
    {children}
  </span>
);

export const Chip = ({ name, value, onRemove }: { readonly name: string; readonly value: string; readonly onRemove: () => void }) => (
  <span className={css["chip"]}>
    <span>{name}</span> <b>{value}</b>
    <button type="button" aria-label={`Remove the filter ${name} ${value}`} onClick={onRemove}>
      <Icon name="close" size={14} />
    </button>
  </span>
);

export const Notice = ({
  tone = "accent",
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children?: ReactNode;
}) => (
  <div className={css["notice"]} data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
    <Icon name={tone === "good" ? "check" : "alert"} size={18} />
    <div>
      {title !== undefined && <b>{title}</b>}
      {children}
    </div>
  </div>
);

/** The API's error message. Its code links to the page about it. */
export function Fault({ error }: { readonly error: Error }) {
  if (!(error instanceof ApiError)) return <>{error.message}</>;
  const page = error.faults[0]?.documentation_url;
  return (
    <>
      {error.faults.length === 0 ? error.message : error.faults.map(({ message }) => message).join(" ")}{" "}
      {error.code > 0 &&
        (page === undefined ? (
          <span className={css["code"]}>Error {error.code}</span>
        ) : (
          <a className={css["code"]} href={new URL(page).pathname} target="_blank" rel="noopener">
            Error {error.code}
          </a>
        ))}
    </>
  );
}

export const Failed = ({ error, onAgain }: { readonly error: Error; readonly onAgain?: () => void }) => (
  <div className={css["state"]} role="alert">
    <h2>This could not be loaded</h2>
    <p>
      <Fault error={error} />
    </p>
    {onAgain && (
      <Button variant="default" onClick={onAgain}>
        Try again
      </Button>
    )}
  </div>
);

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className={css["state"]}>
    <h2>{title}</h2>
    {children}
  </div>
);

export const Loading = () => (
  <div className={css["loading"]} role="status" aria-label="Loading">
    <i />
    <i />
    <i />
  </div>
);

/** Names and values, one pair a line. */
export const Facts = ({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }) => (
  <dl className={css["facts"]}>
    {of.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
