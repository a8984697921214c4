import { Button } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import { useEntrypoint } from "../../api/entrypoint.ts";
import { useState } from "react";
import type { Rule, Ruleset } from "#model/rulesets/ruleset.ts";
import type { Zone } from "#model/zones/zone.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Card, Chip, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import { count } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { ZoneGate } from "../start/zone-gate.tsx";
import { changed, changesBetween, type Override, overrideFor, type Overrides, withOverride } from "./overrides.ts";

export const ManagedRulesetPage = () => <ZoneGate>{(zone) => <ManagedRuleset zone={zone} />}</ZoneGate>;

const SHOWN_MAX = 150;
const RESPONSES = "http_response_firewall_managed";

/** The groups of Selvedge's own rules in words; those of a Core Rule Set have its names. */
const GROUPS: Readonly<Record<string, string>> = {
  body: "Bodies that programs may read in two ways",
  java: "Java expressions and objects",
  lfi: "Paths out of the site, files of the server",
  nodejs: "JavaScript for Node.js",
  "nosql-ldap-xml": "Queries of NoSQL, LDAP and XML",
  operator: "Rows of this server's operator",
  php: "PHP code",
  protocol: "Requests that break the protocol",
  rce: "Commands for a shell",
  "rfi-ssrf": "Addresses inside the network, remote files",
  scanner: "Tools that search for weaknesses",
  sqli: "SQL injection",
  "template-injection": "Expressions of templates",
  upload: "Programs as uploads",
  xss: "Scripts in pages (XSS)",
};

function ManagedRuleset({ zone }: { readonly zone: Zone }) {
  const { ruleset: id } = useParams({ strict: false }) as { ruleset: string };
  const base = `/zones/${zone.id}/rulesets`;
  const read = useRead<Ruleset>(`${base}/${id}`);
  const ruleset = read.data?.result;
  const entry = useEntrypoint(zone.id, ruleset?.phase);
  if (read.error) return <Failed isPage error={read.error} onAgain={() => void read.refetch()} />;
  if (entry.error) return <Failed isPage error={entry.error} onAgain={() => void entry.refetch()} />;
  if (!ruleset || entry.isPending) return <Loading isPage />;
  const deployment = entry.data?.rules.find(({ action, action_parameters }) => action === "execute" && action_parameters?.["id"] === id);
  return (
    <>
      <PageHead title={ruleset.name} lead={ruleset.description}>
        <Link className={tools["link"]} to="/zones/$zone/security/managed" params={{ zone: zone.name }}>
          All managed rules
        </Link>
      </PageHead>
      {deployment ? (
        <OverridesForm key={deployment.version} zone={zone} ruleset={ruleset} entryId={entry.data?.id ?? ""} deployment={deployment} />
      ) : (
        <div className={tools["inset"]}>
          <Notice tone="accent" title="This ruleset is off">
            Turn it on under managed rules; then single rules and groups can be changed here.
          </Notice>
        </div>
      )}
    </>
  );
}

interface FormProps {
  readonly zone: Zone;
  readonly ruleset: Ruleset;
  readonly entryId: string;
  readonly deployment: Rule;
}

/** The zone's changes to the ruleset: to all of it, to groups, and to single rules. Nothing is written before *Save*. */
function OverridesForm({ zone, ruleset, entryId, deployment }: FormProps) {
  const [search, go] = useAddress();
  const stored = (deployment.action_parameters?.["overrides"] ?? {}) as Overrides;
  const [draft, setDraft] = useState(stored);
  const base = `/zones/${zone.id}/rulesets`;
  const write = useWrite<Ruleset>(base);
  const changes = changesBetween(stored, draft, ruleset);
  const isResponse = ruleset.phase === RESPONSES;
  const categories = [...new Set(ruleset.rules.flatMap(({ categories: of = [] }) => of))].toSorted();
  const only = search["only"];
  const wanted = (search["search"] ?? "").toLowerCase();
  const found = ruleset.rules.filter(
    ({ id, description, categories: of = [] }) =>
      (only === undefined || of.includes(only)) &&
      (search["changed"] === undefined || changed(overrideFor(draft, "rules", id))) &&
      (wanted === "" || `${id} ${description} ${of.join(" ")}`.toLowerCase().includes(wanted)),
  );
  const save = (): void => {
    const { id: _id, version: _version, last_updated: _updated, ...kept } = deployment;
    const body = { ...kept, action_parameters: { ...deployment.action_parameters, overrides: draft } };
    write.mutate({ method: "PATCH", path: `${base}/${entryId}/rules/${deployment.id}`, body });
  };
  const choice = (kind: "rules" | "categories", name: string, label: string, usual?: Rule) => (
    <Choice
      label={label}
      isQuiet
      value={stateOf(overrideFor(draft, kind, name))}
      options={[
        ["", usual ? `default (${usual.enabled ? usual.action : "off"})` : "default"],
        ["off", "off"],
        ["on", "on"],
        ["log", "log"],
        ...(isResponse ? [] : [["block", "block"] as const, ["managed_challenge", "challenge"] as const]),
      ]}
      onChange={(state) => setDraft(withOverride(draft, kind, name, changeOf(state)))}
    />
  );
  return (
    <>
      {changes.length > 0 && (
        <Card title={`${count(changes.length)} ${changes.length === 1 ? "change" : "changes"}, not saved yet`}>
          <div className={tools["stack"]}>
            <ul className={tools["plain"]}>
              {changes.map(({ name, before, after }) => (
                <li key={name}>
                  <b>{name}</b>: {before} → {after}
                </li>
              ))}
            </ul>
            {write.error && (
              <Notice tone="bad">
                <Fault error={write.error} />
              </Notice>
            )}
            <div className={tools["row"]}>
              <Button loading={write.isPending} loaderProps={{ type: "dots" }} onClick={save}>
                Save the changes
              </Button>
              <Button variant="default" onClick={() => setDraft(stored)}>
                Discard
              </Button>
            </div>
          </div>
        </Card>
      )}
      <Card title="Groups">
        <List
          label="Groups"
          rows={categories}
          keyOf={(category) => category}
          columns={[
            {
              head: "Group",
              width: "auto",
              cell: (category) => (
                <>
                  <button type="button" className={tools["pick"]} onClick={() => go({ only: category })}>
                    {category}
                  </button>
                  {GROUPS[category] !== undefined && <span className={tools["quiet"]}> {GROUPS[category]}</span>}
                </>
              ),
            },
            {
              head: "Rules",
              width: "80px",
              isFigure: true,
              cell: (category) => count(ruleset.rules.filter(({ categories: of = [] }) => of.includes(category)).length),
            },
            { head: "Does", width: "200px", cell: (category) => choice("categories", category, `Action of ${category}`) },
          ]}
        />
      </Card>
      <div className={tools["tools"]}>
        <SearchField
          label="Search rules"
          placeholder="Name, group or identifier"
          asked={search["search"]}
          onAsk={(text) => go({ search: text }, { replace: true })}
        />
        <Button variant="default" onClick={() => go({ changed: search["changed"] === undefined ? "1" : undefined })}>
          {search["changed"] === undefined ? "Only changed rules" : "All rules"}
        </Button>
        {only !== undefined && <Chip name="Group" value={only} onRemove={() => go({ only: undefined })} />}
        <span className={tools["quiet"]}>
          {count(found.length)} of {count(ruleset.rules.length)} rules
        </span>
      </div>
      <Card>
        <List<Rule>
          label="Rules of the ruleset"
          rows={found.slice(0, SHOWN_MAX)}
          keyOf={({ id }) => id}
          columns={[
            { head: "Rule", width: "auto", cell: ({ id, description }) => <span title={id}>{description || id}</span> },
            {
              head: "Groups",
              width: "30%",
              isMinor: true,
              cell: ({ categories: of = [] }) => of.map((one) => <Badge key={one}>{one}</Badge>),
            },
            { head: "Does", width: "200px", cell: (rule) => choice("rules", rule.id, `Action of ${rule.description || rule.id}`, rule) },
          ]}
        />
        {found.length > SHOWN_MAX && <p className={tools["quiet"]}>The first {SHOWN_MAX} are shown: search to find the others.</p>}
      </Card>
    </>
  );
}

const stateOf = ({ action, enabled }: Override): string => (enabled === false ? "off" : (action ?? (enabled === true ? "on" : "")));

/** Undefined takes the override away. */
const changeOf = (state: string): Override | undefined =>
  state === "" ? undefined : state === "off" ? { enabled: false } : state === "on" ? { enabled: true } : { action: state, enabled: true };
