import { Link } from "@tanstack/react-router";
import tools from "../../parts/tools.module.css";

const TABS = [
  ["API tokens", "/account"],
  ["Members", "/account/members"],
  ["Sessions", "/account/sessions"],
  ["Audit log", "/account/audit"],
  ["Notifications", "/account/notifications"],
  ["Lists", "/account/lists"],
] as const;

export const AccountTabs = () => (
  <nav className={tools["tabs"]} aria-label="Account">
    {TABS.map(([title, to]) => (
      <Link key={to} to={to} search={{}} activeOptions={{ exact: true, includeSearch: false }} activeProps={{ "aria-current": "page" }}>
        {title}
      </Link>
    ))}
  </nav>
);
