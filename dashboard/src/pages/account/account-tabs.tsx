import { Link } from "@tanstack/react-router";
import { Tabs } from "../../parts/tabs.tsx";

const TABS = [
  ["API tokens", "/account"],
  ["Members", "/account/members"],
  ["Sign-in methods", "/account/sign-in"],
  ["Sessions", "/account/sessions"],
  ["Audit log", "/account/audit"],
  ["Notifications", "/account/notifications"],
  ["Addresses", "/account/addresses"],
  ["Lists", "/account/lists"],
  ["Name", "/account/settings"],
] as const;

export const AccountTabs = () => (
  <Tabs label="Account">
    {TABS.map(([title, to]) => (
      <Link key={to} to={to} search={{}} activeOptions={{ exact: true, includeSearch: false }} activeProps={{ "aria-current": "page" }}>
        {title}
      </Link>
    ))}
  </Tabs>
);
