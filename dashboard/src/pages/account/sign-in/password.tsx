import { Button, PasswordInput } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import type { Password } from "#model/access/session.ts";
import { ApiError, type Reply } from "../../../api/client.ts";
import { useWrite } from "../../../api/hooks.ts";
import { FormDialog } from "../../../parts/dialogs/form-dialog.tsx";
import { Badge, Card, Failed, Fault, Loading, Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";

const PATH = "/user/password";

export function PasswordCard({ read }: { readonly read: UseQueryResult<Reply<Password>> }) {
  const change = useWrite<{ sessions_ended: number }>("/user/sessions", PATH);
  const form = useRef<HTMLFormElement>(null);
  const [isEnding, setEnding] = useState(false);
  const enabled = read.data?.result.enabled;
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const body = { password: String(fields.get("new")), ...(enabled === true && { current_password: String(fields.get("current")) }) };
    change.mutate({ method: "PUT", path: PATH, body }, { onSuccess: () => form.current?.reset() });
  };
  const faults = change.error instanceof ApiError ? change.error.byField() : {};
  if (read.error)
    return (
      <Card title="Password">
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      </Card>
    );
  if (enabled === undefined)
    return (
      <Card title="Password">
        <Loading />
      </Card>
    );
  return (
    <Card title="Password" aside={<Badge tone={enabled ? "good" : "plain"}>{enabled ? "on" : "off"}</Badge>}>
      <form className={tools["form"]} onSubmit={submit} ref={form}>
        <div className={tools["two"]}>
          {enabled && (
            <PasswordInput
              label="Current password"
              name="current"
              autoComplete="current-password"
              required
              error={faults["current_password"]?.message}
            />
          )}
          <PasswordInput
            label="New password"
            name="new"
            autoComplete="new-password"
            minLength={12}
            required
            error={faults["password"]?.message}
          />
        </div>
        {change.error && !faults["current_password"] && !faults["password"] && (
          <Notice tone="bad">
            <Fault error={change.error} />
          </Notice>
        )}
        {change.data && (
          <Notice tone="good">The password is changed; {change.data.result.sessions_ended} other sessions have ended.</Notice>
        )}
        <div className={tools["row"]}>
          <Button type="submit" loading={change.isPending} loaderProps={{ type: "dots" }}>
            {enabled ? "Change the password" : "Set a password"}
          </Button>
          {enabled && (
            <Button variant="default" onClick={() => setEnding(true)}>
              Turn the password off
            </Button>
          )}
        </div>
      </form>
      {isEnding && <EndPassword onClose={() => setEnding(false)} />}
    </Card>
  );
}

function EndPassword({ onClose }: { readonly onClose: () => void }) {
  const end = useWrite<Password>(PATH);
  const fault = end.error instanceof ApiError ? end.error.byField()["current_password"] : undefined;
  const submit = (form: HTMLFormElement): void => {
    const body = { current_password: String(new FormData(form).get("current")) };
    end.mutate({ method: "DELETE", path: PATH, body }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title="Turn the password off"
      onClose={onClose}
      submit="Turn the password off"
      onSubmit={submit}
      isPending={end.isPending}
      isRed
    >
      <p className={tools["hint"]}>You then sign in with a passkey alone, and nobody can guess or steal a password.</p>
      <PasswordInput
        label="Current password"
        name="current"
        autoComplete="current-password"
        required
        error={fault?.message}
        data-autofocus
      />
      {end.error && !fault && (
        <Notice tone="bad">
          <Fault error={end.error} />
        </Notice>
      )}
    </FormDialog>
  );
}
