import { Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { AccessApp, AccessAppWrite, AccessDestination } from "#model/access/access-app.ts";
import { ApiError } from "../../api/client.ts";
import { useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { FormDialog } from "../../parts/dialogs/form-dialog.tsx";
import { Fault, Notice } from "../../parts/page.tsx";
import { FORM_TYPES, type FormType, TYPE_WORDS, writtenOf } from "./access-app.ts";

interface FormProps {
  readonly path: string;
  /** Undefined for a new one. */
  readonly app: AccessApp | undefined;
  readonly onClose: () => void;
}

const isPublic = (destination: AccessDestination): destination is Extract<AccessDestination, { uri: string }> => "uri" in destination;

export function AccessAppForm({ path, app, onClose }: FormProps) {
  const [type, setType] = useState(app?.type ?? "self_hosted");
  const [name, setName] = useState(app?.name ?? "");
  const [places, setPlaces] = useState(
    app?.destinations
      ? app.destinations
          .filter(isPublic)
          .map(({ uri }) => uri)
          .join("\n")
      : (app?.domain ?? ""),
  );
  const [session, setSession] = useState(app?.session_duration ?? "24h");
  const [isListed, setListed] = useState(app?.app_launcher_visible ?? true);
  const write = useWrite<AccessApp>(path);
  const faults = write.error instanceof ApiError ? write.error.byField() : {};
  const placeFault = Object.entries(faults).find(([field]) => field === "domain" || field.startsWith("destinations"))?.[1];
  const isBesideField = placeFault !== undefined || ["name", "session_duration"].some((field) => faults[field] !== undefined);
  const isForm = (FORM_TYPES as readonly string[]).includes(type);
  const hasSession = type !== "bookmark";
  const submit = (): void => {
    const uris = places.split(/[\n,]/).flatMap((line) => line.trim() || []);
    const other = app?.destinations?.filter((destination) => !isPublic(destination)) ?? [];
    // The server derives the domain from the destinations.
    const where =
      type === "bookmark"
        ? { domain: uris[0] ?? "" }
        : { domain: undefined, destinations: [...uris.map((uri) => ({ type: "public", uri }) as const), ...other] };
    const body = writtenOf(app, {
      type,
      name: name.trim(),
      ...(isForm && where),
      ...(isForm && { app_launcher_visible: isListed }),
      ...(hasSession && { session_duration: session.trim() }),
    } as AccessAppWrite);
    write.mutate(app ? { method: "PUT", path: `${path}/${app.id}`, body } : { method: "POST", path, body }, { onSuccess: onClose });
  };
  return (
    <FormDialog
      title={app ? `Change ${app.name ?? app.type}` : "Add an application"}
      onClose={onClose}
      submit={app ? "Save" : "Add the application"}
      onSubmit={submit}
      isPending={write.isPending}
    >
      {!app && (
        <Choice
          label="Type"
          value={type as FormType}
          options={FORM_TYPES.map((one) => [one, TYPE_WORDS[one] ?? one] as const)}
          description="Terraform and the API add applications of the other types."
          onChange={setType}
        />
      )}
      <TextInput
        label="Name"
        value={name}
        error={faults["name"]?.message}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        maxLength={256}
        required
        data-autofocus
      />
      {isForm && type === "bookmark" ? (
        <TextInput
          label="Address"
          placeholder="wiki.example.com"
          value={places}
          error={placeFault?.message}
          onChange={({ currentTarget }) => setPlaces(currentTarget.value)}
          required
        />
      ) : (
        isForm && (
          <Textarea
            label="Addresses"
            description="One a line: a host name, with a path where only a part is meant."
            placeholder={"app.example.com/admin"}
            rows={3}
            value={places}
            error={placeFault?.message}
            onChange={({ currentTarget }) => setPlaces(currentTarget.value)}
            required
          />
        )
      )}
      {hasSession && (
        <TextInput
          label="Session"
          description="How long a log-in holds: 30m, 24h."
          value={session}
          error={faults["session_duration"]?.message}
          onChange={({ currentTarget }) => setSession(currentTarget.value)}
        />
      )}
      {isForm && (
        <Switch label="Show it in the app launcher" checked={isListed} onChange={({ currentTarget }) => setListed(currentTarget.checked)} />
      )}
      {write.error && !isBesideField && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </FormDialog>
  );
}
