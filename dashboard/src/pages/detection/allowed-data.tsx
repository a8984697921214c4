import { Button } from "@mantine/core";
import type { AllowedData } from "#model/detection/sensitive-data.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { List } from "../../parts/list.tsx";
import { Card, Failed, Fault, Loading, Notice } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";

/** The exceptions of detection: a hit that fits one is not reported. */
export function AllowedDataCard({ zone }: { readonly zone: Zone }) {
  const path = `/zones/${zone.id}/sensitive_data/allowed`;
  const read = useRead<AllowedData[]>(path);
  const remove = useWrite<{ id: string }>(path);
  return (
    <Card title="Left out">
      {remove.error && (
        <Notice tone="bad">
          <Fault error={remove.error} />
        </Notice>
      )}
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <p className={tools["quiet"]}>None. A value, a path or a place in JSON that is known and harmless can be left out.</p>
      ) : (
        <List<AllowedData>
          label="Left out"
          rows={read.data.result}
          keyOf={({ id }) => id}
          columns={[
            { head: "Description", width: "auto", cell: (one) => one.description || placeOf(one) },
            { head: "Place", width: "auto", cell: placeOf },
            { head: "Since", width: "110px", isMinor: true, cell: ({ created_on }) => <Time of={created_on} as="day" /> },
            {
              head: "Action",
              width: "90px",
              cell: ({ id }) => (
                <Button variant="default" size="compact-xs" onClick={() => remove.mutate({ method: "DELETE", path: `${path}/${id}` })}>
                  Delete
                </Button>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function placeOf({ value_hash, path, json_path, rule_id }: AllowedData): string {
  const parts = [
    value_hash === undefined ? "" : "one value",
    rule_id === undefined ? "" : `rule ${rule_id}`,
    path === undefined ? "" : `on ${path}`,
    json_path === undefined ? "" : `at ${json_path}`,
  ].filter(Boolean);
  return parts.length === 1 && value_hash !== undefined ? "one value, everywhere" : parts.join(", ");
}
