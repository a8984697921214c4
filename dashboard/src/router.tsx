import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { ApiError } from "./api/client.ts";
import { Failed } from "./parts/page.tsx";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  errorComponent: ({ error }) => <Failed isPage error={error as Error} onAgain={() => location.reload()} />,
});

/**
 * The code of a page, loaded when it is opened. The router loads the whole page again if code is missing, as after an
 * update; without a server that would end at the browser's own error page and lose what was typed.
 */
const lazyPage = <T extends Record<string, unknown>>(
  load: () => Promise<T>,
  name: keyof T & string,
): ReturnType<typeof lazyRouteComponent> =>
  lazyRouteComponent(
    () =>
      load().catch(async (error: unknown) => {
        await fetch("/scheme.js", { cache: "no-store" }).catch(() => {
          throw new ApiError(0, []);
        });
        throw error;
      }) as never,
    name as never,
  );

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
    lazyPage(() => import("./pages/start/home.tsx"), "HomePage"),
  ),
  page(
    "/zones",
    lazyPage(() => import("./pages/start/zones.tsx"), "ZonesPage"),
  ),
  page(
    "/zones/$zone",
    lazyPage(() => import("./pages/start/zone.tsx"), "ZonePage"),
  ),
  page(
    "/zones/$zone/dns/records",
    lazyPage(() => import("./pages/dns/records.tsx"), "RecordsPage"),
  ),
  page(
    "/zones/$zone/dns/import",
    lazyPage(() => import("./pages/dns/import.tsx"), "ImportPage"),
  ),
  page(
    "/zones/$zone/dns/dnssec",
    lazyPage(() => import("./pages/dns/dnssec.tsx"), "DnssecPage"),
  ),
  page(
    "/zones/$zone/dns/ask",
    lazyPage(() => import("./pages/dns/ask.tsx"), "AskPage"),
  ),
  page(
    "/zones/$zone/dns/versions",
    lazyPage(() => import("./pages/dns/versions.tsx"), "VersionsPage"),
  ),
  page(
    "/zones/$zone/dns/settings",
    lazyPage(() => import("./pages/dns/dns-settings.tsx"), "DnsSettingsPage"),
  ),
  page(
    "/zones/$zone/dns/transfers",
    lazyPage(() => import("./pages/dns/transfers/transfers.tsx"), "TransfersPage"),
  ),
  page(
    "/zones/$zone/security/events",
    lazyPage(() => import("./pages/security/events.tsx"), "EventsPage"),
  ),
  page(
    "/zones/$zone/security/events/$event",
    lazyPage(() => import("./pages/security/event.tsx"), "EventPage"),
  ),
  page(
    "/zones/$zone/security/rules",
    lazyPage(() => import("./pages/security/rules.tsx"), "RulesPage"),
  ),
  page(
    "/zones/$zone/security/try",
    lazyPage(() => import("./pages/security/try-request.tsx"), "TryPage"),
  ),
  page(
    "/zones/$zone/security/managed/$ruleset",
    lazyPage(() => import("./pages/security/managed-ruleset.tsx"), "ManagedRulesetPage"),
  ),
  page(
    "/zones/$zone/security/managed",
    lazyPage(() => import("./pages/security/managed.tsx"), "ManagedPage"),
  ),
  page(
    "/zones/$zone/security/sensitive-data",
    lazyPage(() => import("./pages/detection/sensitive-data.tsx"), "SensitiveDataPage"),
  ),
  page(
    "/zones/$zone/security/page-shield",
    lazyPage(() => import("./pages/page-shield/page-shield.tsx"), "PageShieldPage"),
  ),
  page(
    "/zones/$zone/security/page-shield/$list",
    lazyPage(() => import("./pages/page-shield/page-shield.tsx"), "PageShieldPage"),
  ),
  page(
    "/zones/$zone/hostnames",
    lazyPage(() => import("./pages/hostnames/hostnames.tsx"), "HostnamesPage"),
  ),
  page(
    "/zones/$zone/hostnames/$hostname",
    lazyPage(() => import("./pages/hostnames/hostname.tsx"), "HostnamePage"),
  ),
  page(
    "/zones/$zone/certificates",
    lazyPage(() => import("./pages/certificates/certificates.tsx"), "CertificatesPage"),
  ),
  page(
    "/zones/$zone/traffic",
    lazyPage(() => import("./pages/traffic/requests.tsx"), "RequestsPage"),
  ),
  page(
    "/zones/$zone/traffic/requests/$ray",
    lazyPage(() => import("./pages/traffic/request.tsx"), "RequestPage"),
  ),
  page(
    "/zones/$zone/cache",
    lazyPage(() => import("./pages/traffic/purge.tsx"), "PurgePage"),
  ),
  page(
    "/zones/$zone/settings",
    lazyPage(() => import("./pages/site/site-settings.tsx"), "SiteSettingsPage"),
  ),
  page(
    "/gateways",
    lazyPage(() => import("./pages/gateway/gateways.tsx"), "GatewaysPage"),
  ),
  page(
    "/gateways/$gateway",
    lazyPage(() => import("./pages/gateway/gateway.tsx"), "GatewayPage"),
  ),
  page(
    "/gateways/$gateway/requests",
    lazyPage(() => import("./pages/gateway/gateway-requests.tsx"), "GatewayRequestsPage"),
  ),
  page(
    "/gateways/$gateway/try",
    lazyPage(() => import("./pages/gateway/try-chat.tsx"), "TryChatPage"),
  ),
  page(
    "/gateways/$gateway/routes",
    lazyPage(() => import("./pages/gateway/routes/routes.tsx"), "RoutesPage"),
  ),
  page(
    "/gateways/$gateway/datasets",
    lazyPage(() => import("./pages/gateway/datasets/datasets.tsx"), "DatasetsPage"),
  ),
  page(
    "/gateways/$gateway/settings",
    lazyPage(() => import("./pages/gateway/gateway-settings.tsx"), "GatewaySettingsPage"),
  ),
  page(
    "/tunnels",
    lazyPage(() => import("./pages/tunnels/tunnels.tsx"), "TunnelsPage"),
  ),
  page(
    "/tunnels/$tunnel",
    lazyPage(() => import("./pages/tunnels/tunnel.tsx"), "TunnelPage"),
  ),
  page(
    "/nodes",
    lazyPage(() => import("./pages/nodes/nodes.tsx"), "NodesPage"),
  ),
  page(
    "/deprecations",
    lazyPage(() => import("./pages/account/deprecations.tsx"), "DeprecationsPage"),
  ),
  page(
    "/account",
    lazyPage(() => import("./pages/account/tokens.tsx"), "TokensPage"),
  ),
  page(
    "/account/sessions",
    lazyPage(() => import("./pages/account/sessions.tsx"), "SessionsPage"),
  ),
  page(
    "/account/sign-in",
    lazyPage(() => import("./pages/account/sign-in/sign-in-methods.tsx"), "SignInMethodsPage"),
  ),
  page(
    "/account/members",
    lazyPage(() => import("./pages/account/members.tsx"), "MembersPage"),
  ),
  page(
    "/account/audit",
    lazyPage(() => import("./pages/account/audit.tsx"), "AuditPage"),
  ),
  page(
    "/account/notifications",
    lazyPage(() => import("./pages/account/notifications/notifications.tsx"), "NotificationsPage"),
  ),
  page(
    "/account/lists",
    lazyPage(() => import("./pages/account/lists/lists.tsx"), "ListsPage"),
  ),
  page(
    "/account/lists/$list",
    lazyPage(() => import("./pages/account/lists/rule-list.tsx"), "RuleListPage"),
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
