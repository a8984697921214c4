import type { NotificationHistoryEntry } from "#model/events/notification.ts";
import { useRead } from "../../../api/hooks.ts";
import { List } from "../../../parts/list.tsx";
import { Badge, Card, Empty, Failed, Loading, type Tone } from "../../../parts/page.tsx";
import { Time } from "../../../parts/time.tsx";

const TONES: Readonly<Record<NotificationHistoryEntry["status"], Tone>> = { sent: "good", pending: "warn", failed: "bad" };

interface SentProps {
  readonly base: string;
  /** Names of alert types. */
  readonly names: ReadonlyMap<string, string>;
}

export function SentNotifications({ base, names }: SentProps) {
  const read = useRead<NotificationHistoryEntry[]>(`${base}/history?per_page=25`, { everyMs: 5000 });
  return (
    <Card title="Sent">
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !read.data ? (
        <Loading />
      ) : read.data.result.length === 0 ? (
        <Empty title="Nothing has been sent yet" />
      ) : (
        <List<NotificationHistoryEntry>
          label="Sent notifications"
          rows={read.data.result}
          keyOf={({ id }) => id}
          columns={[
            { head: "When", width: "130px", cell: ({ sent }) => (sent === null ? "waits" : <Time of={sent} />) },
            { head: "Policy", width: "auto", cell: ({ name }) => <b>{name}</b> },
            { head: "Alert", width: "auto", isMinor: true, cell: ({ alert_type }) => names.get(alert_type) ?? alert_type },
            { head: "By", width: "80px", isMinor: true, cell: ({ mechanism_type }) => (mechanism_type === "email" ? "e-mail" : "webhook") },
            {
              head: "Result",
              width: "auto",
              cell: ({ status, error }) => (
                <>
                  <Badge tone={TONES[status]}>{status}</Badge> {error}
                </>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}
