import { Button } from "@mantine/core";
import { useState } from "react";
import type { CustomProvider, ProviderConfig } from "#model/gateways/gateway-provider.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading } from "../../../parts/page.tsx";
import { number, Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { AddKey } from "./add-key.tsx";
import { providerTitle } from "./known-providers.ts";
import { ReplaceKey } from "./replace-key.tsx";

/** The keys of providers that the gateway keeps, so that applications need none. */
export function StoredKeys({ base, accountId }: { readonly base: string; readonly accountId: string }) {
  const path = `${base}/provider_configs`;
  const read = useRead<ProviderConfig[]>(`${path}?per_page=100`);
  const own = useRead<CustomProvider[]>(`/accounts/${accountId}/ai-gateway/custom-providers?per_page=100`);
  const remove = useWrite<ProviderConfig>(path);
  const [isAdding, setAdding] = useState(false);
  const [replacing, setReplacing] = useState<ProviderConfig>();
  const [removing, setRemoving] = useState<ProviderConfig>();
  const keys = (read.data?.result ?? []).toSorted((a, b) => (a.provider_slug + a.alias < b.provider_slug + b.alias ? -1 : 1));
  return (
    <Card
      title="Stored keys"
      aside={
        <Button size="xs" variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Store a key
        </Button>
      }
    >
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : keys.length === 0 ? (
        <Empty title="No stored keys yet">
          <p>With a stored key, applications send the gateway's token alone and never see the key of the provider.</p>
        </Empty>
      ) : (
        <List<ProviderConfig>
          label="Stored keys"
          rows={keys}
          keyOf={({ id }) => id}
          columns={[
            { head: "Provider", width: "auto", cell: ({ provider_slug }) => <b>{providerTitle(provider_slug)}</b> },
            {
              head: "Alias",
              width: "auto",
              cell: ({ alias, default_config }) => (
                <>
                  {alias} {default_config && <Badge tone="good">default</Badge>}
                </>
              ),
            },
            { head: "Key", width: "130px", cell: ({ secret_preview }) => <span className={tools["mono"]}>{secret_preview}</span> },
            {
              head: "At most",
              width: "150px",
              isMinor: true,
              cell: ({ rate_limit: limit, rate_limit_period: period = 60 }) =>
                limit === undefined ? "no limit" : `${number(limit, "request")} in ${period} s`,
            },
            { head: "Changed", width: "120px", isMinor: true, cell: ({ modified_at }) => <Time of={modified_at} /> },
            {
              head: "Actions",
              width: "170px",
              cell: (key) => (
                <span className={tools["row"]}>
                  <Button size="compact-xs" variant="default" aria-label={`Replace ${nameOf(key)}`} onClick={() => setReplacing(key)}>
                    Replace
                  </Button>
                  <Button size="compact-xs" variant="default" aria-label={`Delete ${nameOf(key)}`} onClick={() => setRemoving(key)}>
                    Delete
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
      {keys.length > 0 && (
        <p className={tools["below"]}>
          A request that brings no key gets the default key of its provider; the header <code>cf-aig-byok-alias</code> names another. Both
          need a token of the gateway.
        </p>
      )}
      {isAdding && (
        <AddKey
          path={path}
          keys={keys}
          own={own.data?.result.map(({ slug, name }) => [`custom-${slug}`, name] as const) ?? []}
          onClose={() => setAdding(false)}
        />
      )}
      {replacing && <ReplaceKey path={path} of={replacing} onClose={() => setReplacing(undefined)} />}
      {removing && (
        <Confirm
          title={`Delete ${nameOf(removing)}?`}
          action="Delete the key"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() => remove.mutate({ method: "DELETE", path: `${path}/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })}
        >
          Requests that rely on it fail from the next one on. The key at the provider stays valid until you revoke it there.
        </Confirm>
      )}
    </Card>
  );
}

const nameOf = ({ provider_slug, alias }: ProviderConfig): string => `the key ${alias} of ${providerTitle(provider_slug)}`;
