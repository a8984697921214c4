import type { PageScriptDetails } from "#model/zones/page-shield.ts";
import { useRead } from "../../api/hooks.ts";
import { List } from "../../parts/list.tsx";
import { Dialog } from "../../parts/dialogs/modal.tsx";
import { Failed, Loading } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";

/** One script: its pages, and each content that it has had. */
export function ScriptDetails({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const read = useRead<PageScriptDetails>(path);
  const script = read.data?.result;
  return (
    <Dialog title="Script" onClose={onClose} size={720}>
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !script ? (
        <Loading />
      ) : (
        <div className={tools["stack"]}>
          <p className={tools["code"]}>{script.url}</p>
          <p className={tools["hint"]}>
            First seen <Time of={script.first_seen_at} />, last seen <Time of={script.last_seen_at} />.
          </p>
          <h2>Pages</h2>
          <ul className={tools["plain"]}>
            {script.page_urls.map((page) => (
              <li key={page} className={tools["mono"]}>
                {page}
              </li>
            ))}
          </ul>
          <h2>Versions</h2>
          {script.versions.length === 0 ? (
            <p className={tools["quiet"]}>The content has not been fetched yet. The server fetches scripts once a day.</p>
          ) : (
            <List<PageScriptDetails["versions"][number]>
              label="Versions"
              rows={script.versions}
              keyOf={(_, index) => String(index)}
              columns={[
                { head: "SHA-256", width: "auto", cell: ({ hash }) => <span className={tools["code"]}>{hash}</span> },
                { head: "Fetched", width: "130px", cell: ({ fetched_at }) => <Time of={fetched_at} /> },
              ]}
            />
          )}
        </div>
      )}
    </Dialog>
  );
}
