import { Link } from "@tanstack/react-router";
import { Tabs } from "../../parts/tabs.tsx";

const TABS = [
  ["Images", "/images"],
  ["Variants", "/images/variants"],
  ["Signing keys", "/images/keys"],
] as const;

export const ImageTabs = () => (
  <Tabs label="Images">
    {TABS.map(([title, to]) => (
      <Link key={to} to={to} search={{}} activeOptions={{ exact: true, includeSearch: false }} activeProps={{ "aria-current": "page" }}>
        {title}
      </Link>
    ))}
  </Tabs>
);
