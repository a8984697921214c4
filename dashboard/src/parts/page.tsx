import { Button } from "@mantine/core";
import { useParams, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { ApiError } from "../api/client.ts";
import { Icon } from "./icon.tsx";
import { duration } from "./time.tsx";
import css from "./page.module.css";

interface HeadProps {
  readonly title: ReactNode;
  readonly lead?: ReactNode;
  readonly children?: ReactNode;
}

/** The page's heading. Browsers, their histories and screen readers know the page by it, its tab and its zone. */
function Heading({ children }: { readonly children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { zone } = useParams({ strict: false }) as { zone?: string };
  useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    const tab = document.querySelector("main nav [aria-current]")?.textContent;
    const parts = [tab, heading.current?.textContent, zone, "Selvedge"].filter(
      (part) => part !== undefined && part !== null && part !== "",
    );
    document.title = [...new Set(parts)].join(" · ");
  });
  return <h1 ref={heading}>{children}</h1>;
}

export const PageHead = ({ title, lead, children }: HeadProps) => (
  <div className={css["head"]}>
    <div>
      <Heading>{title}</Heading>
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
  const text = error.faults.length === 0 ? error.message : error.faults.map(({ message }) => message).join(" ");
  return (
    <>
      {text}
      {error.waitSeconds > 0 && `${text.endsWith(".") ? "" : "."} Try again in ${duration(error.waitSeconds)}.`}{" "}
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

interface StateProps {
  /** Whether it stands in the place of the whole page, whose heading it then is. */
  readonly isPage?: boolean;
  readonly children?: ReactNode;
}

interface FailedProps extends StateProps {
  readonly error: Error;
  readonly onAgain?: () => void;
}

/** Instead of what could not be read: why, and what helps. */
export function Failed({ error, onAgain, isPage = false, children }: FailedProps) {
  if (error instanceof ApiError && error.isForbidden)
    return (
      <State title="You may not see this" isPage={isPage} isQuiet>
        <p>{error.message.replace(/^Authentication error: the credential needs /, "Your sign-in lacks a permission. It needs ")}</p>
        {children}
      </State>
    );
  const isMissing = isPage && error instanceof ApiError && (error.status === 404 || error.code === NO_ROUTE);
  return (
    <div role="alert">
      <State title={isMissing ? "Not found" : "This could not be loaded"} isPage={isPage}>
        <p>{isMissing ? "It may have been deleted, or the address is mistyped." : <Fault error={error} />}</p>
        {children}
        {onAgain && !isMissing && (
          <Button variant="default" onClick={onAgain}>
            Try again
          </Button>
        )}
      </State>
    </div>
  );
}

/** An identifier in the address that cannot be one. */
const NO_ROUTE = 7003;

export const Empty = ({ title, isPage = false, children }: StateProps & { readonly title: string }) => (
  <State title={title} isPage={isPage}>
    {children}
  </State>
);

const State = ({ title, isPage, isQuiet = false, children }: StateProps & { readonly title: string; readonly isQuiet?: boolean }) => (
  <div className={css["state"]} data-quiet={isQuiet || undefined}>
    {isPage ? <Heading>{title}</Heading> : <h2>{title}</h2>}
    {children}
  </div>
);

/** `isPage`: it stands in the place of a whole page, outside any card. */
export const Loading = ({ isPage = false }: { readonly isPage?: boolean }) => (
  <div className={css["loading"]} data-page={isPage || undefined} role="status" aria-label="Loading">
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
