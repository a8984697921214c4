import { useState } from "react";
import type { PageConnection, PageCookie, PageScript } from "#model/zones/page-shield.ts";
import { Badge } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import css from "./page-shield.module.css";
import { ResourceList } from "./resource-list.tsx";
import { ScriptDetails } from "./script-details.tsx";

interface Props {
  /** Of Page Shield of the zone. */
  readonly path: string;
  readonly isOn: boolean;
}

const SEEN = [
  {
    head: "First seen",
    width: "120px",
    isMinor: true,
    cell: ({ first_seen_at }: PageConnection | PageCookie) => <Time of={first_seen_at} />,
  },
  { head: "Last seen", width: "120px", cell: ({ last_seen_at }: PageConnection | PageCookie) => <Time of={last_seen_at} /> },
];

export function Scripts({ path, isOn }: Props) {
  const [open, setOpen] = useState<string>();
  return (
    <>
      <ResourceList<PageScript>
        title="Scripts"
        path={`${path}/scripts`}
        isOn={isOn}
        filter="hosts"
        empty="No browser has reported a script yet. Open a page of your site through the edge; it appears within a minute."
        columns={[
          {
            head: "Script",
            width: "auto",
            cell: ({ id, url, page_urls }) => (
              <>
                <button type="button" className={tools["pick"]} onClick={() => setOpen(id)}>
                  <span className={css["address"]}>{url}</span>
                </button>
                <p className={tools["quiet"]}>{pagesText(page_urls)}</p>
              </>
            ),
          },
          {
            head: "SHA-256",
            width: "130px",
            isMinor: true,
            cell: ({ hash }) =>
              hash === null ? (
                <span className={tools["quiet"]}>not fetched</span>
              ) : (
                <span title={hash} className="mono">{`${hash.slice(0, 12)}…`}</span>
              ),
          },
          ...SEEN,
        ]}
      />
      {open !== undefined && <ScriptDetails path={`${path}/scripts/${open}`} onClose={() => setOpen(undefined)} />}
    </>
  );
}

export const Connections = ({ path, isOn }: Props) => (
  <ResourceList<PageConnection>
    title="Connections"
    path={`${path}/connections`}
    isOn={isOn}
    filter="hosts"
    empty="No browser has reported a connection yet. Scripts that fetch something from elsewhere are listed here."
    columns={[
      {
        head: "To",
        width: "auto",
        cell: ({ url, page_urls }) => (
          <>
            <span className={css["address"]}>{url}</span>
            <p className={tools["quiet"]}>{pagesText(page_urls)}</p>
          </>
        ),
      },
      ...SEEN,
    ]}
  />
);

export const Cookies = ({ path, isOn }: Props) => (
  <ResourceList<PageCookie>
    title="Cookies"
    path={`${path}/cookies`}
    isOn={isOn}
    filter="name"
    empty="No page has set a cookie yet. Names and attributes are kept, values never."
    columns={[
      {
        head: "Cookie",
        width: "auto",
        cell: ({ name, host }) => (
          <>
            <span className="mono">{name}</span> <span className={tools["quiet"]}>{host}</span>
          </>
        ),
      },
      {
        head: "Attributes",
        width: "auto",
        cell: (cookie) => (
          <div className={tools["row"]}>
            <Badge tone={cookie.secure_attribute ? "good" : "warn"}>{cookie.secure_attribute ? "Secure" : "not Secure"}</Badge>
            <Badge tone={cookie.http_only_attribute ? "good" : "warn"}>{cookie.http_only_attribute ? "HttpOnly" : "for scripts"}</Badge>
            {cookie.same_site_attribute !== undefined && <Badge>SameSite {cookie.same_site_attribute}</Badge>}
          </div>
        ),
      },
      ...SEEN,
    ]}
  />
);

function pagesText(pages: readonly string[]): string {
  const [first = ""] = pages;
  if (pages.length === 0) return "";
  return pages.length === 1 ? `on ${first}` : `on ${first} and ${pages.length - 1} more`;
}
