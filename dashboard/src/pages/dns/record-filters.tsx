import type { ReactNode } from "react";
import { useAddress } from "../../api/search.ts";
import { Choice } from "../../parts/choice.tsx";
import { Chip } from "../../parts/page.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { RECORD_TYPES } from "./record-types.ts";

/** The filters of the table of records, which stand in the address. */
export function RecordFilters({ children }: { readonly children: ReactNode }) {
  const [{ search, type, proxied }, go] = useAddress();
  const types = type?.split(",") ?? [];
  return (
    <div className={tools["tools"]}>
      <SearchField
        label="Search records"
        placeholder="Search names, contents and comments"
        asked={search}
        onAsk={(text) => go({ search: text }, { replace: true })}
      />
      <Choice
        label="Add a type to the filter"
        isQuiet
        value=""
        options={[["", "Type"] as const, ...RECORD_TYPES.map((one) => [one, one] as const)]}
        onChange={(value) => go({ type: [...new Set([...types, value])].join(",") })}
      />
      <Choice
        label="Traffic"
        isQuiet
        value={proxied ?? ""}
        options={[
          ["", "Traffic"],
          ["true", "Through the edge"],
          ["false", "DNS only"],
        ]}
        onChange={(value) => go({ proxied: value || undefined })}
      />
      {types.map((one) => (
        <Chip
          key={one}
          name="Type"
          value={one}
          onRemove={() => go({ type: types.filter((other) => other !== one).join(",") || undefined })}
        />
      ))}
      {proxied !== undefined && (
        <Chip name="Traffic" value={proxied === "true" ? "through the edge" : "DNS only"} onRemove={() => go({ proxied: undefined })} />
      )}
      {children}
    </div>
  );
}
