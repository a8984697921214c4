import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Failed } from "./parts/page.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: ({ error }) => <Failed error={error as Error} />,
});

/** Search parameters as text. Other values are dropped, so that no link breaks a page. */
export type Search = Readonly<Record<string, string | undefined>>;

const texts = (search: Record<string, unknown>): Search =>
  Object.fromEntries(
    Object.entries(search)
      .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value) && value !== "")
      .map(([name, value]) => [name, String(value)]),
  );

const page = <const P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, validateSearch: texts, component });

const routes = [
  page(
    "/",
    lazyRouteComponent(() => import("./pages/start/home.tsx"), "HomePage"),
  ),
  page(
    "/zones",
    lazyRouteComponent(() => import("./pages/start/zones.tsx"), "ZonesPage"),
  ),
  page(
    "/zones/$zone",
    lazyRouteComponent(() => import("./pages/start/zone.tsx"), "ZonePage"),
  ),
  page(
    "/zones/$zone/dns/records",
    lazyRouteComponent(() => import("./pages/dns/records.tsx"), "RecordsPage"),
  ),
  page(
    "/zones/$zone/dns/import",
    lazyRouteComponent(() => import("./pages/dns/import.tsx"), "ImportPage"),
  ),
  page(
    "/zones/$zone/dns/dnssec",
    lazyRouteComponent(() => import("./pages/dns/dnssec.tsx"), "DnssecPage"),
  ),
  page(
    "/zones/$zone/dns/ask",
    lazyRouteComponent(() => import("./pages/dns/ask.tsx"), "AskPage"),
  ),
  page(
    "/zones/$zone/dns/versions",
    lazyRouteComponent(() => import("./pages/dns/versions.tsx"), "VersionsPage"),
  ),
  page(
    "/zones/$zone/dns/settings",
    lazyRouteComponent(() => import("./pages/dns/dns-settings.tsx"), "DnsSettingsPage"),
  ),
  page(
    "/zones/$zone/dns/transfers",
    lazyRouteComponent(() => import("./pages/dns/transfers/transfers.tsx"), "TransfersPage"),
  ),
  page(
    "/zones/$zone/security/events",
    lazyRouteComponent(() => import("./pages/security/events.tsx"), "EventsPage"),
  ),
  page(
    "/zones/$zone/security/events/$event",
    lazyRouteComponent(() => import("./pages/security/event.tsx"), "EventPage"),
  ),
  page(
    "/zones/$zone/security/rules",
    lazyRouteComponent(() => import("./pages/security/rules.tsx"), "RulesPage"),
  ),
  page(
    "/zones/$zone/security/try",
    lazyRouteComponent(() => import("./pages/security/try-request.tsx"), "TryPage"),
  ),
  page(
    "/zones/$zone/security/managed/$ruleset",
    lazyRouteComponent(() => import("./pages/security/managed-ruleset.tsx"), "ManagedRulesetPage"),
  ),
  page(
    "/zones/$zone/security/managed",
    lazyRouteComponent(() => import("./pages/security/managed.tsx"), "ManagedPage"),
  ),
  page(
    "/zones/$zone/security/sensitive-data",
    lazyRouteComponent(() => import("./pages/detection/sensitive-data.tsx"), "SensitiveDataPage"),
  ),
  page(
    "/zones/$zone/security/page-shield",
    lazyRouteComponent(() => import("./pages/page-shield/page-shield.tsx"), "PageShieldPage"),
  ),
  page(
    "/zones/$zone/security/page-shield/$list",
    lazyRouteComponent(() => import("./pages/page-shield/page-shield.tsx"), "PageShieldPage"),
  ),
  page(
    "/zones/$zone/hostnames",
    lazyRouteComponent(() => import("./pages/hostnames/hostnames.tsx"), "HostnamesPage"),
  ),
  page(
    "/zones/$zone/hostnames/$hostname",
    lazyRouteComponent(() => import("./pages/hostnames/hostname.tsx"), "HostnamePage"),
  ),
  page(
    "/zones/$zone/certificates",
    lazyRouteComponent(() => import("./pages/certificates/certificates.tsx"), "CertificatesPage"),
  ),
  page(
    "/zones/$zone/traffic",
    lazyRouteComponent(() => import("./pages/traffic/requests.tsx"), "RequestsPage"),
  ),
  page(
    "/zones/$zone/traffic/requests/$ray",
    lazyRouteComponent(() => import("./pages/traffic/request.tsx"), "RequestPage"),
  ),
  page(
    "/zones/$zone/cache",
    lazyRouteComponent(() => import("./pages/traffic/purge.tsx"), "PurgePage"),
  ),
  page(
    "/zones/$zone/settings",
    lazyRouteComponent(() => import("./pages/site/site-settings.tsx"), "SiteSettingsPage"),
  ),
  page(
    "/gateways",
    lazyRouteComponent(() => import("./pages/gateway/gateways.tsx"), "GatewaysPage"),
  ),
  page(
    "/gateways/$gateway",
    lazyRouteComponent(() => import("./pages/gateway/gateway.tsx"), "GatewayPage"),
  ),
  page(
    "/gateways/$gateway/requests",
    lazyRouteComponent(() => import("./pages/gateway/gateway-requests.tsx"), "GatewayRequestsPage"),
  ),
  page(
    "/gateways/$gateway/try",
    lazyRouteComponent(() => import("./pages/gateway/try-chat.tsx"), "TryChatPage"),
  ),
  page(
    "/gateways/$gateway/routes",
    lazyRouteComponent(() => import("./pages/gateway/routes/routes.tsx"), "RoutesPage"),
  ),
  page(
    "/gateways/$gateway/datasets",
    lazyRouteComponent(() => import("./pages/gateway/datasets/datasets.tsx"), "DatasetsPage"),
  ),
  page(
    "/gateways/$gateway/settings",
    lazyRouteComponent(() => import("./pages/gateway/gateway-settings.tsx"), "GatewaySettingsPage"),
  ),
  page(
    "/tunnels",
    lazyRouteComponent(() => import("./pages/tunnels/tunnels.tsx"), "TunnelsPage"),
  ),
  page(
    "/tunnels/$tunnel",
    lazyRouteComponent(() => import("./pages/tunnels/tunnel.tsx"), "TunnelPage"),
  ),
  page(
    "/nodes",
    lazyRouteComponent(() => import("./pages/nodes/nodes.tsx"), "NodesPage"),
  ),
  page(
    "/deprecations",
    lazyRouteComponent(() => import("./pages/account/deprecations.tsx"), "DeprecationsPage"),
  ),
  page(
    "/account",
    lazyRouteComponent(() => import("./pages/account/tokens.tsx"), "TokensPage"),
  ),
  page(
    "/account/sessions",
    lazyRouteComponent(() => import("./pages/account/sessions.tsx"), "SessionsPage"),
  ),
  page(
    "/account/sign-in",
    lazyRouteComponent(() => import("./pages/account/sign-in/sign-in-methods.tsx"), "SignInMethodsPage"),
  ),
  page(
    "/account/members",
    lazyRouteComponent(() => import("./pages/account/members.tsx"), "MembersPage"),
  ),
  page(
    "/account/audit",
    lazyRouteComponent(() => import("./pages/account/audit.tsx"), "AuditPage"),
  ),
  page(
    "/account/notifications",
    lazyRouteComponent(() => import("./pages/account/notifications/notifications.tsx"), "NotificationsPage"),
  ),
  page(
    "/account/lists",
    lazyRouteComponent(() => import("./pages/account/lists/lists.tsx"), "ListsPage"),
  ),
  page(
    "/account/lists/$list",
    lazyRouteComponent(() => import("./pages/account/lists/rule-list.tsx"), "RuleListPage"),
  ),
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: "intent",
  // Addresses stay readable: ?type=A and not ?type=%22A%22.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const kept = Object.entries(search).filter((pair): pair is [string, string] => typeof pair[1] === "string" && pair[1] !== "");
    const text = new URLSearchParams(kept).toString();
    return text === "" ? "" : `?${text}`;
  },
});
