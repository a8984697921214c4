import { Link } from "@tanstack/react-router";
import tools from "../../parts/tools.module.css";

const TABS = [
  ["Spend", "/gateways/$gateway"],
  ["Requests", "/gateways/$gateway/requests"],
  ["Connect and settings", "/gateways/$gateway/settings"],
] as const;

export const GatewayTabs = ({ gateway }: { readonly gateway: string }) => (
  <nav className={tools["tabs"]} aria-label="Gateway">
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
  </nav>
);
