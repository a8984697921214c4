import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { chooseAccount, useAccount, useAccounts } from "../api/hooks.ts";
import { Choice } from "../parts/choice.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { shownName } from "../api/names.ts";
import { ACCOUNT_PAGES, ZONE_PAGES } from "./pages.ts";
import css from "./nav.module.css";

const ICONS: Readonly<Record<string, IconName>> = {
  Home: "home",
  Zones: "globe",
  "AI gateway": "spark",
  Tunnels: "tunnel",
  Images: "image",
  "Access applications": "door",
  Nodes: "server",
  Deprecations: "clock",
  Account: "key",
};

/** Where one can go: the zone's pages while one is at a zone, the account's below. */
export function Nav({ zone }: { readonly zone: string | undefined }) {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // On a low screen the list is longer than the window.
  useEffect(() => void nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }), [pathname]);
  return (
    <nav ref={nav} className={css["nav"]} aria-label="Main">
      <Link to="/" className={`wordmark ${css["brand"]}`}>
        Selvedge
      </Link>
      <AccountChoice />
      {zone !== undefined && (
        <>
          <p className={css["zone"]} title={zone}>
            {shownName(zone)}
          </p>
          {ZONE_PAGES.map(({ group, pages }) => (
            <section key={group} aria-label={group}>
              {group !== "" && <p className={css["group"]}>{group}</p>}
              <ul>
                {pages.map(({ title, to }) => (
                  <li key={to}>
                    <Link
                      to={to}
                      params={{ zone }}
                      search={{}}
                      className={css["item"]}
                      activeProps={{ "aria-current": "page" }}
                      activeOptions={{ includeSearch: false, exact: to === "/zones/$zone" }}
                    >
                      {title}
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          ))}
          <hr />
        </>
      )}
      <ul>
        {ACCOUNT_PAGES.map(({ title, to, exact }) => (
          <li key={to}>
            <Link
              to={to}
              search={{}}
              className={css["item"]}
              activeProps={{ "aria-current": "page" }}
              activeOptions={{ includeSearch: false, exact }}
            >
              <Icon name={ICONS[title] ?? "right"} size={16} />
              {title}
            </Link>
          </li>
        ))}
        <li>
          <a href="/docs" className={css["item"]}>
            <Icon name="book" size={16} />
            Documentation
          </a>
        </li>
      </ul>
    </nav>
  );
}

/** For members of several accounts. */
function AccountChoice() {
  const accounts = useAccounts();
  const account = useAccount();
  if (accounts.length < 2 || !account) return null;
  return (
    <div className={css["account"]}>
      <Choice label="Account" value={account.id} options={accounts.map(({ id, name }) => [id, name] as const)} onChange={chooseAccount} />
    </div>
  );
}
