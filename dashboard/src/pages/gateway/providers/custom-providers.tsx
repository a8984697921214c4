import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { CustomProvider } from "#model/gateways/gateway-provider.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import { CustomProviderForm } from "./custom-provider-form.tsx";
import { fieldsOf } from "./header-fields.ts";

/** Providers of the account beside those that the gateway knows, for every gateway. */
export function CustomProviders({ base, gateway }: { readonly base: string; readonly gateway: string }) {
  const read = useRead<CustomProvider[]>(`${base}?per_page=100`);
  const remove = useWrite<CustomProvider>(base);
  const [form, setForm] = useState<CustomProvider | "new">();
  const [removing, setRemoving] = useState<CustomProvider>();
  return (
    <Card
      title="Custom providers"
      aside={
        <Button size="xs" variant="default" leftSection={<Icon name="plus" size={16} />} onClick={() => setForm("new")}>
          Add a provider
        </Button>
      }
    >
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title="No custom providers yet">
          <p>Any server with an API of OpenAI's kind, such as your own models. Every gateway of the account can reach it.</p>
        </Empty>
      ) : (
        <List<CustomProvider>
          label="Custom providers"
          rows={read.data.result}
          keyOf={({ id }) => id}
          columns={[
            {
              head: "Name",
              width: "auto",
              cell: ({ name, enable }) => (
                <>
                  <b>{name}</b> {enable === false && <Badge tone="warn">off</Badge>}
                </>
              ),
            },
            { head: "In paths", width: "auto", cell: ({ slug }) => <span className={tools["mono"]}>custom-{slug}</span> },
            { head: "Base URL", width: "auto", cell: ({ base_url }) => <span className={tools["mono"]}>{base_url}</span> },
            {
              head: "Headers",
              width: "auto",
              isMinor: true,
              cell: ({ headers }) =>
                fieldsOf(headers)
                  .map(({ name }) => name)
                  .join(", ") || "none",
            },
            {
              head: "Actions",
              width: "200px",
              cell: (provider) => (
                <span className={tools["row"]}>
                  <Link
                    className={tools["link"]}
                    to="/gateways/$gateway/try"
                    params={{ gateway }}
                    search={{ model: `custom-${provider.slug}/` }}
                    aria-label={`Try it: ${provider.name}`}
                  >
                    Try it
                  </Link>
                  <Button size="compact-xs" variant="default" aria-label={`Edit ${provider.name}`} onClick={() => setForm(provider)}>
                    Edit
                  </Button>
                  <Button size="compact-xs" variant="default" aria-label={`Delete ${provider.name}`} onClick={() => setRemoving(provider)}>
                    Delete
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
      {form !== undefined && (
        <CustomProviderForm base={base} provider={form === "new" ? undefined : form} onClose={() => setForm(undefined)} />
      )}
      {removing && (
        <Confirm
          title={`Delete the provider ${removing.name}?`}
          action="Delete the provider"
          error={remove.error}
          isPending={remove.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() => remove.mutate({ method: "DELETE", path: `${base}/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })}
        >
          Its costs go with it. Requests of every gateway to custom-{removing.slug} get an error from then on.
        </Confirm>
      )}
    </Card>
  );
}
