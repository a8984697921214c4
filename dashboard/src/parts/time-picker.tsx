import { useAddress } from "../api/search.ts";
import { SPANS, type TimeRange } from "../api/time-range.ts";
import { Choice } from "./choice.tsx";
import { Chip } from "./page.tsx";

const moment = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

/** The time of a page. A range that was drawn in a chart is a chip: its cross and Back lead out of it. */
export function TimePicker({ range }: { readonly range: TimeRange }) {
  const [, go] = useAddress();
  if (range.span === "")
    return (
      <Chip
        name="Time"
        value={moment.formatRange(new Date(range.sinceMs), new Date(range.untilMs))}
        onRemove={() => go({ since: undefined, until: undefined })}
      />
    );
  return <Choice label="Time" isQuiet value={range.span} options={SPANS} onChange={(time) => go({ time })} />;
}
