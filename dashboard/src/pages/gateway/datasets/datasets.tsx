import { Button } from "@mantine/core";
import { useState } from "react";
import type { EvaluationType, GatewayDataset, GatewayEvaluation } from "#model/gateways/gateway-dataset.ts";
import { useRead, useWrite } from "../../../api/hooks.ts";
import { Confirm } from "../../../parts/dialogs/confirm.tsx";
import { Icon } from "../../../parts/icon.tsx";
import { List } from "../../../parts/list.tsx";
import { Card, Empty, Failed, Loading } from "../../../parts/page.tsx";
import { count, Time } from "../../../parts/time.tsx";
import tools from "../../../parts/tools.module.css";
import { GatewayFrame } from "../gateway.tsx";
import { DatasetForm } from "./dataset-form.tsx";
import { EvaluationForm } from "./evaluation-form.tsx";

export function DatasetsPage() {
  const [isAdding, setAdding] = useState(false);
  return (
    <GatewayFrame
      actions={
        <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
          Create a dataset
        </Button>
      }
    >
      {(base, _gateway, accountId) => (
        <>
          <Datasets base={base} accountId={accountId} />
          {isAdding && <DatasetForm base={base} onClose={() => setAdding(false)} />}
        </>
      )}
    </GatewayFrame>
  );
}

interface DatasetsProps {
  readonly base: string;
  readonly accountId: string;
}

/** Parts of the gateway's requests, and figures that were computed from them. */
function Datasets({ base, accountId }: DatasetsProps) {
  const datasets = useRead<GatewayDataset[]>(`${base}/datasets?per_page=100`);
  const evaluations = useRead<GatewayEvaluation[]>(`${base}/evaluations?per_page=100`);
  const types = useRead<EvaluationType[]>(`/accounts/${accountId}/ai-gateway/evaluation-types`);
  const write = useWrite<GatewayDataset>(base);
  const [removing, setRemoving] = useState<GatewayDataset>();
  const [isEvaluating, setEvaluating] = useState(false);
  const error = datasets.error ?? evaluations.error ?? types.error;
  if (error) return <Failed error={error} onAgain={() => void datasets.refetch()} />;
  if (!datasets.data || !evaluations.data || !types.data) return <Loading />;
  const titles = new Map(types.data.result.map(({ id, name }) => [id, name]));
  return (
    <>
      <Card title="Datasets">
        {datasets.data.result.length === 0 ? (
          <Empty title="No datasets yet">
            <p>A dataset is the part of the gateway's requests that some filters select, such as one model's or one team's.</p>
          </Empty>
        ) : (
          <List<GatewayDataset>
            label="Datasets"
            rows={datasets.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", width: "auto", cell: ({ name }) => name },
              { head: "Requests with", width: "auto", cell: ({ filters }) => filters.map(filterText).join(" and ") || "all" },
              { head: "Changed", width: "130px", isMinor: true, cell: ({ modified_at }) => <Time of={modified_at} /> },
              {
                head: "",
                width: "90px",
                cell: (dataset) => (
                  <Button
                    size="xs"
                    variant="default"
                    aria-label={`Delete the dataset ${dataset.name}`}
                    onClick={() => setRemoving(dataset)}
                  >
                    Delete
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Card>
      <Card
        title="Evaluations"
        aside={
          datasets.data.result.length > 0 && (
            <Button size="xs" variant="default" onClick={() => setEvaluating(true)}>
              Evaluate
            </Button>
          )
        }
      >
        {evaluations.data.result.length === 0 ? (
          <Empty title="No evaluations yet">
            <p>An evaluation computes cost, speed or feedback of datasets as they are at that time.</p>
          </Empty>
        ) : (
          <List<GatewayEvaluation>
            label="Evaluations"
            rows={evaluations.data.result}
            keyOf={({ id }) => id}
            columns={[
              { head: "Name", width: "auto", cell: ({ name }) => name },
              { head: "Datasets", width: "auto", isMinor: true, cell: ({ datasets: of }) => of.map(({ name }) => name).join(", ") },
              {
                head: "Results",
                width: "auto",
                cell: ({ results }) => (
                  <span className={tools["stack"]}>
                    {results.map((one) => (
                      <span key={one.id}>
                        {titles.get(one.evaluation_type_id) ?? "?"} <b className="num">{one.result === "" ? "no data" : one.result}</b>
                      </span>
                    ))}
                  </span>
                ),
              },
              { head: "Of", width: "120px", cell: ({ total_logs }) => `${count(total_logs)} requests` },
              { head: "Time", width: "130px", isMinor: true, cell: ({ created_at }) => <Time of={created_at} /> },
            ]}
          />
        )}
      </Card>
      {isEvaluating && (
        <EvaluationForm base={base} datasets={datasets.data.result} types={types.data.result} onClose={() => setEvaluating(false)} />
      )}
      {removing && (
        <Confirm
          title={`Delete the dataset ${removing.name}?`}
          action="Delete the dataset"
          error={write.error}
          isPending={write.isPending}
          onClose={() => setRemoving(undefined)}
          onConfirm={() =>
            write.mutate({ method: "DELETE", path: `${base}/datasets/${removing.id}` }, { onSuccess: () => setRemoving(undefined) })
          }
        >
          Its requests stay in the log.
        </Confirm>
      )}
    </>
  );
}

const filterText = ({ key, operator, value }: GatewayDataset["filters"][number]): string =>
  `${key} ${OPERATORS[operator] ?? operator} ${value.map(String).join(" or ")}`;

const OPERATORS: Readonly<Record<string, string>> = { eq: "is", neq: "is not", contains: "contains", lt: "below", gt: "above" };
