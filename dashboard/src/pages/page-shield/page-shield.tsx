import { Switch } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import type { PageShieldSettings } from "#model/zones/page-shield.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Card, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import { Policies } from "./policies.tsx";
import { Connections, Cookies, Scripts } from "./resources.tsx";

export const PageShieldPage = () => <ZoneGate>{(zone) => <PageShieldOf zone={zone} />}</ZoneGate>;

const TABS = [
  ["Scripts", ""],
  ["Connections", "connections"],
  ["Cookies", "cookies"],
  ["Policies", "policies"],
] as const;

/** The scripts, connections and cookies of the zone's pages, and the policies that browsers enforce. */
function PageShieldOf({ zone }: { readonly zone: Zone }) {
  const path = `/zones/${zone.id}/page_shield`;
  const read = useRead<PageShieldSettings>(path);
  const { list } = useParams({ strict: false }) as { list?: string };
  const isOn = read.data?.result.enabled === true;
  return (
    <>
      <PageHead title="Page Shield" lead="Scripts that your pages load, where these connect to, and cookies that pages set." />
      <Settings path={path} settings={read.data?.result} error={read.error} onAgain={() => void read.refetch()} />
      <Tabs label="Page Shield">
        {TABS.map(([title, value]) => (
          <Link
            key={title}
            to={value === "" ? "/zones/$zone/security/page-shield" : "/zones/$zone/security/page-shield/$list"}
            params={{ zone: zone.name, list: value }}
            search={{}}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ "aria-current": "page" }}
          >
            {title}
          </Link>
        ))}
      </Tabs>
      {list === "policies" ? (
        <Policies zone={zone} isOn={isOn} />
      ) : list === "connections" ? (
        <Connections path={path} isOn={isOn} />
      ) : list === "cookies" ? (
        <Cookies path={path} isOn={isOn} />
      ) : (
        <Scripts path={path} isOn={isOn} />
      )}
    </>
  );
}

interface SettingsProps {
  readonly path: string;
  readonly settings: PageShieldSettings | undefined;
  readonly error: Error | null;
  readonly onAgain: () => void;
}

function Settings({ path, settings, error, onAgain }: SettingsProps) {
  const write = useWrite<PageShieldSettings>(path);
  const change = (body: Partial<PageShieldSettings>): void => write.mutate({ method: "PUT", path, body });
  return (
    <Card>
      {error ? (
        <Failed error={error} onAgain={onAgain} />
      ) : !settings ? (
        <Loading />
      ) : (
        <div className={tools["stack"]}>
          <Switch
            label="Have browsers report what pages load"
            description="Pages get a header field that blocks nothing. Browsers report to the name of the page."
            checked={settings.enabled}
            disabled={write.isPending}
            onChange={({ currentTarget }) => change({ enabled: currentTarget.checked })}
          />
          {settings.enabled && (
            <Switch
              label="Keep the path of connections"
              description="Otherwise the list shows only their hosts."
              checked={settings.use_connection_url_path}
              disabled={write.isPending}
              onChange={({ currentTarget }) => change({ use_connection_url_path: currentTarget.checked })}
            />
          )}
          {write.error && (
            <Notice tone="bad">
              <Fault error={write.error} />
            </Notice>
          )}
        </div>
      )}
    </Card>
  );
}
