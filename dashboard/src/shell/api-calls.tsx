import { useState } from "react";
import type { NotedCall } from "../api/calls.ts";
import { useCalls } from "../api/calls.ts";
import { Choice } from "../parts/choice.tsx";
import { CopyBlock } from "../parts/copy-block.tsx";
import { Panel } from "../parts/dialogs/modal.tsx";
import { Badge, Empty } from "../parts/page.tsx";
import css from "./api-calls.module.css";
import { asTerraform } from "./terraform.ts";

type Form = "curl" | "sdk" | "terraform";

const FORMS: Readonly<Record<Form, (call: NotedCall) => string | undefined>> = { curl: asCurl, sdk: asSdk, terraform: asTerraform };

/** The last calls of the page, as commands and code to run again. */
export function ApiCalls({ onClose }: { readonly onClose: () => void }) {
  const calls = useCalls();
  const [form, setForm] = useState<Form>("curl");
  const shown = calls.flatMap((call) => {
    const text = FORMS[form](call);
    return text === undefined ? [] : [{ call, text }];
  });
  return (
    <Panel title="This page as API calls" size={560} onClose={onClose}>
      <p className={css["lead"]}>Everything here is done by the public API. Newest first; put a token of yours into SELVEDGE_TOKEN.</p>
      <Choice
        label="Form"
        isQuiet
        value={form}
        options={[
          ["curl", "curl"],
          ["sdk", "JavaScript SDK"],
          ["terraform", "Terraform"],
        ]}
        onChange={setForm}
      />
      {calls.length === 0 && <Empty title="Nothing was asked yet" />}
      {calls.length > 0 && shown.length === 0 && (
        <Empty title="Nothing that Terraform keeps">
          <p>Resources appear here for what this page creates or changes, where the provider 5 has one.</p>
        </Empty>
      )}
      <ol className={css["calls"]}>
        {shown.map(({ call, text }) => (
          <li key={`${call.method} ${call.path} ${JSON.stringify(call.body)}`}>
            <p>
              <Badge tone={call.status < 400 ? "good" : "bad"}>{call.status}</Badge> <b>{call.method}</b>{" "}
              <span>{call.path.split("?")[0]}</span>
            </p>
            <CopyBlock label={`${call.method} ${call.path}`} text={text} />
          </li>
        ))}
      </ol>
    </Panel>
  );
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function asCurl({ method, path, body }: NotedCall): string {
  const url = `${location.origin}/client/v4${path}`;
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`, `  -H "Authorization: Bearer $SELVEDGE_TOKEN"`];
  if (body !== undefined) lines.push("  -H 'Content-Type: application/json'", `  --data ${quoted(JSON.stringify(body))}`);
  return lines.join(" \\\n");
}

function asSdk({ method, path, body }: NotedCall): string {
  const name = method.toLowerCase();
  return [
    `import Cloudflare from "cloudflare";`,
    `const client = new Cloudflare({ apiToken: process.env.SELVEDGE_TOKEN, baseURL: "${location.origin}/client/v4" });`,
    `await client.${name}(${JSON.stringify(path)}${body === undefined ? "" : `, { body: ${JSON.stringify(body)} }`});`,
  ].join("\n");
}
