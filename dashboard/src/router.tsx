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

const page = <const P extends string, T extends Record<string, unknown>>(path: P, load: () => Promise<T>, name: keyof T & string) =>
  createRoute({ getParentRoute: () => root, path, validateSearch: texts, component: lazyPage(load, name) });

const routes = [
  page("/", () => import("./pages/start/home.tsx"), "HomePage"),
  page("/zones", () => import("./pages/start/zones.tsx"), "ZonesPage"),
  page("/zones/$zone", () => import("./pages/start/zone.tsx"), "ZonePage"),
  page("/zones/$zone/dns/records", () => import("./pages/dns/records.tsx"), "RecordsPage"),
  page("/zones/$zone/dns/import", () => import("./pages/dns/import.tsx"), "ImportPage"),
  page("/zones/$zone/dns/dnssec", () => import("./pages/dns/dnssec.tsx"), "DnssecPage"),
  page("/zones/$zone/dns/ask", () => import("./pages/dns/ask.tsx"), "AskPage"),
  page("/zones/$zone/dns/versions", () => import("./pages/dns/versions.tsx"), "VersionsPage"),
  page("/zones/$zone/dns/settings", () => import("./pages/dns/dns-settings.tsx"), "DnsSettingsPage"),
  page("/zones/$zone/dns/transfers", () => import("./pages/dns/transfers/transfers.tsx"), "TransfersPage"),
  page("/zones/$zone/security/events", () => import("./pages/security/events.tsx"), "EventsPage"),
  page("/zones/$zone/security/events/$event", () => import("./pages/security/event.tsx"), "EventPage"),
  page("/zones/$zone/security/rules", () => import("./pages/security/rules.tsx"), "RulesPage"),
  page("/zones/$zone/security/try", () => import("./pages/security/try-request.tsx"), "TryPage"),
  page("/zones/$zone/security/managed/$ruleset", () => import("./pages/security/managed-ruleset.tsx"), "ManagedRulesetPage"),
  page("/zones/$zone/security/managed", () => import("./pages/security/managed.tsx"), "ManagedPage"),
  page("/zones/$zone/security/visitors", () => import("./pages/security/visitors/visitors.tsx"), "VisitorsPage"),
  page("/zones/$zone/security/sensitive-data", () => import("./pages/detection/sensitive-data.tsx"), "SensitiveDataPage"),
  page("/zones/$zone/security/page-shield", () => import("./pages/page-shield/page-shield.tsx"), "PageShieldPage"),
  page("/zones/$zone/security/page-shield/$list", () => import("./pages/page-shield/page-shield.tsx"), "PageShieldPage"),
  page("/zones/$zone/hostnames", () => import("./pages/hostnames/hostnames.tsx"), "HostnamesPage"),
  page("/zones/$zone/hostnames/$hostname", () => import("./pages/hostnames/hostname.tsx"), "HostnamePage"),
  page("/zones/$zone/certificates", () => import("./pages/certificates/certificates.tsx"), "CertificatesPage"),
  page("/zones/$zone/traffic", () => import("./pages/traffic/requests.tsx"), "RequestsPage"),
  page("/zones/$zone/traffic/requests/$ray", () => import("./pages/traffic/request.tsx"), "RequestPage"),
  page("/zones/$zone/cache", () => import("./pages/traffic/purge.tsx"), "PurgePage"),
  page("/zones/$zone/settings", () => import("./pages/site/site-settings.tsx"), "SiteSettingsPage"),
  page("/gateways", () => import("./pages/gateway/gateways.tsx"), "GatewaysPage"),
  page("/gateways/$gateway", () => import("./pages/gateway/gateway.tsx"), "GatewayPage"),
  page("/gateways/$gateway/requests", () => import("./pages/gateway/gateway-requests.tsx"), "GatewayRequestsPage"),
  page("/gateways/$gateway/try", () => import("./pages/gateway/try-chat.tsx"), "TryChatPage"),
  page("/gateways/$gateway/routes", () => import("./pages/gateway/routes/routes.tsx"), "RoutesPage"),
  page("/gateways/$gateway/providers", () => import("./pages/gateway/providers/providers.tsx"), "ProvidersPage"),
  page("/gateways/$gateway/protection", () => import("./pages/gateway/guards/protection.tsx"), "ProtectionPage"),
  page("/gateways/$gateway/datasets", () => import("./pages/gateway/datasets/datasets.tsx"), "DatasetsPage"),
  page("/gateways/$gateway/settings", () => import("./pages/gateway/gateway-settings.tsx"), "GatewaySettingsPage"),
  page("/tunnels", () => import("./pages/tunnels/tunnels.tsx"), "TunnelsPage"),
  page("/tunnels/$tunnel", () => import("./pages/tunnels/tunnel.tsx"), "TunnelPage"),
  page("/images", () => import("./pages/images/images.tsx"), "ImagesPage"),
  page("/images/variants", () => import("./pages/images/variants.tsx"), "VariantsPage"),
  page("/images/keys", () => import("./pages/images/keys.tsx"), "ImageKeysPage"),
  page("/access", () => import("./pages/access/access-apps.tsx"), "AccessAppsPage"),
  page("/nodes", () => import("./pages/nodes/nodes.tsx"), "NodesPage"),
  page("/deprecations", () => import("./pages/account/deprecations.tsx"), "DeprecationsPage"),
  page("/account", () => import("./pages/account/tokens.tsx"), "TokensPage"),
  page("/account/settings", () => import("./pages/account/account-settings.tsx"), "AccountSettingsPage"),
  page("/account/sessions", () => import("./pages/account/sessions.tsx"), "SessionsPage"),
  page("/account/sign-in", () => import("./pages/account/sign-in/sign-in-methods.tsx"), "SignInMethodsPage"),
  page("/account/members", () => import("./pages/account/members.tsx"), "MembersPage"),
  page("/account/audit", () => import("./pages/account/audit.tsx"), "AuditPage"),
  page("/account/notifications", () => import("./pages/account/notifications/notifications.tsx"), "NotificationsPage"),
  page("/account/addresses", () => import("./pages/account/access-rules/access-rules.tsx"), "AccessRulesPage"),
  page("/account/lists", () => import("./pages/account/lists/lists.tsx"), "ListsPage"),
  page("/account/lists/$list", () => import("./pages/account/lists/rule-list.tsx"), "RuleListPage"),
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
