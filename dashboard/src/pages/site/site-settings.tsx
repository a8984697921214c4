import { Switch } from "@mantine/core";
import type { Zone } from "#model/zones/zone.ts";
import type { ZoneSetting } from "#model/zones/zone-settings.ts";
import { useRead, useWrite } from "../../api/hooks.ts";
import { Choice } from "../../parts/choice.tsx";
import { Card, Failed, Fault, Loading, Notice, PageHead } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { ZoneGate } from "../start/zone-gate.tsx";
import css from "./site-settings.module.css";
import { SETTING_GROUPS, type SettingRow } from "./setting-rows.ts";

export const SiteSettingsPage = () => <ZoneGate>{(zone) => <Settings zone={zone} />}</ZoneGate>;

/** Settings of the edge for every visitor of the zone, each saved at once. */
function Settings({ zone }: { readonly zone: Zone }) {
  const path = `/zones/${zone.id}/settings`;
  const read = useRead<ZoneSetting[]>(path);
  const settings = read.data?.result;
  return (
    <>
      <PageHead
        title="Site settings"
        lead="How the edge treats the visitors of this zone. A change is saved at once, for the next request."
      />
      {read.error ? (
        <Failed error={read.error} onAgain={() => void read.refetch()} />
      ) : !settings ? (
        <Card>
          <Loading />
        </Card>
      ) : (
        SETTING_GROUPS.map(({ title, rows }) => (
          <Card key={title} title={title}>
            <div className={css["rows"]}>
              {rows.map((row) => {
                const setting = settings.find(({ id }) => id === row.id);
                return setting && <Setting key={row.id} path={path} row={row} setting={setting} />;
              })}
            </div>
          </Card>
        ))
      )}
    </>
  );
}

interface SettingProps {
  readonly path: string;
  readonly row: SettingRow;
  readonly setting: ZoneSetting;
}

function Setting({ path, row: { id, title, hint, options, shown = String, sent = (text) => text }, setting }: SettingProps) {
  const write = useWrite<ZoneSetting>(path);
  const save = (text: string): void => write.mutate({ method: "PATCH", path: `${path}/${id}`, body: { value: sent(text) } });
  const text = shown(setting.value);
  const left = !setting.time_remaining ? "" : ` ${Math.ceil(setting.time_remaining / 60)} minutes are left.`;
  return (
    <div className={tools["stack"]}>
      {options === undefined ? (
        <Switch
          label={title}
          description={`${hint}${left}`}
          checked={text === "on"}
          disabled={write.isPending}
          onChange={({ currentTarget }) => save(currentTarget.checked ? "on" : "off")}
        />
      ) : (
        <Choice
          label={title}
          description={hint}
          value={text}
          options={options.some(([one]) => one === text) ? options : [...options, [text, text] as const]}
          onChange={save}
        />
      )}
      {setting.note !== undefined && <p className={tools["quiet"]}>{setting.note}</p>}
      {write.error && (
        <Notice tone="bad">
          <Fault error={write.error} />
        </Notice>
      )}
    </div>
  );
}
