import type { Gateway } from "#model/gateways/gateway.ts";
import { useRead } from "../../../api/hooks.ts";
import { useAddress } from "../../../api/search.ts";
import { Choice } from "../../../parts/choice.tsx";
import { CopyBlock } from "../../../parts/copy-block.tsx";
import { Card, Failed, Loading } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { type Client, SNIPPETS } from "./snippets.ts";

const CLIENTS = (Object.keys(SNIPPETS) as Client[]).map((client) => [client, SNIPPETS[client].title] as const);
const isClient = (name: string | undefined): name is Client => name !== undefined && Object.hasOwn(SNIPPETS, name);

/** The program that sends a first request through the gateway, for the client that an application has. */
export function Connect({ base, gateway }: { readonly base: string; readonly gateway: Gateway }) {
  const url = useRead<string>(`${base}/url/openai`);
  const [{ client: asked }, go] = useAddress();
  const client = isClient(asked) ? asked : "curl";
  const isAuthenticated = gateway.authentication ?? false;
  if (url.error) return <Failed error={url.error} onAgain={() => void url.refetch()} />;
  if (!url.data) return <Loading />;
  const root = url.data.result.slice(0, url.data.result.lastIndexOf("/"));
  const { install, of } = SNIPPETS[client];
  return (
    <Card title="Connect an application">
      <div className={tools["stack"]}>
        <p className={tools["hint"]}>Only the base URL changes: this address, and the name of the provider behind it.</p>
        <CopyBlock label="the gateway's address" text={root} />
        <Choice label="Client" value={client} options={CLIENTS} onChange={(next) => go({ client: next }, { replace: true })} />
        {install !== "" && <CopyBlock label="the command that installs it" text={install} />}
        <CopyBlock label="the example" text={of({ root, isAuthenticated })} />
        {isAuthenticated && (
          <p className={tools["hint"]}>
            <code>GATEWAY_TOKEN</code> is a token with the permission AI Gateway Run: <i>Create a token</i> makes one. If the gateway stores
            the provider's key, leave that key empty in the application.
          </p>
        )}
        <p className={tools["hint"]}>
          To see spend by team, name the team in the header <code>cf-aig-metadata</code>:
        </p>
        <CopyBlock label="the metadata header" text={'cf-aig-metadata: {"team": "search"}'} />
      </div>
    </Card>
  );
}
