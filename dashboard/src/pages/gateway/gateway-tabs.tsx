import { Link } from "@tanstack/react-router";
import { Tabs } from "../../parts/tabs.tsx";

const TABS = [
  ["Spend", "/gateways/$gateway"],
  ["Requests", "/gateways/$gateway/requests"],
  ["Try it", "/gateways/$gateway/try"],
  ["Routes", "/gateways/$gateway/routes"],
  ["Providers", "/gateways/$gateway/providers"],
  ["Protection", "/gateways/$gateway/protection"],
  ["Datasets", "/gateways/$gateway/datasets"],
  ["Connect and settings", "/gateways/$gateway/settings"],
] as const;

export const GatewayTabs = ({ gateway }: { readonly gateway: string }) => (
  <Tabs label="Gateway">
    {TABS.map(([title, to]) => (
      <Link
        key={to}
        to={to}
        params={{ gateway }}
        search={{}}
        activeOptions={{ exact: true, includeSearch: false }}
        activeProps={{ "aria-current": "page" }}
      >
        {title}
      </Link>
    ))}
  </Tabs>
);
