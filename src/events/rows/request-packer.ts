import { type AnyRow, cellText, FacetPacker, FIRST_ROWS, NumberPacker, PositionPacker, TextPacker } from "./column-packers.ts";
import type { PackedEvents, PackedRows } from "./packed-rows.ts";
import type { RequestEvent, RequestRow } from "./rows.ts";

/**
 * Packs rows of requests with the events that rules logged for them. It names each field: reading them through a list of
 * names takes five times as long.
 */
export class RequestPacker {
  rows = 0;
  /** Length of the waiting text in UTF-16 units, without the texts of combinations. */
  units = 0;
  private readonly site = new FacetPacker("site");
  private readonly host = new FacetPacker("host");
  private readonly agent = new FacetPacker("agent");
  private readonly kind = new FacetPacker("request_kind");
  private readonly ray = new TextPacker();
  private readonly clientIp = new TextPacker();
  private readonly path = new TextPacker();
  private readonly query = new TextPacker();
  private readonly customFields = new TextPacker();
  private readonly edgeErrorName = new TextPacker();
  private readonly time = new NumberPacker();
  private readonly status = new NumberPacker();
  private readonly originStatus = new NumberPacker();
  private readonly bytesIn = new NumberPacker();
  private readonly bytesOut = new NumberPacker();
  private readonly duration = new NumberPacker();
  // In the order of the table's columns.
  private readonly facets = [this.site, this.host, this.agent, this.kind];
  private readonly texts = [this.ray, this.clientIp, this.path, this.query, this.customFields, this.edgeErrorName];
  private readonly numbers = [this.time, this.status, this.originStatus, this.bytesIn, this.bytesOut, this.duration];
  private readonly events = new EventPacker();
  private before: RequestRow | null = null;
  private room = FIRST_ROWS;

  push(row: RequestRow, events: readonly RequestEvent[]): void {
    const { rows: at } = this;
    if (at === this.room) this.makeRoom();
    const before = this.before ?? row;
    this.site.push(fields(row), at, row.zone_id === before.zone_id && row.account_id === before.account_id);
    this.host.push(fields(row), at, row.host === before.host);
    this.agent.push(fields(row), at, row.user_agent === before.user_agent);
    this.kind.push(fields(row), at, isSameKind(row, before));
    this.units +=
      this.ray.push(row.ray_id, at) +
      this.clientIp.push(row.client_ip, at) +
      this.path.push(row.path, at) +
      this.query.push(row.query, at) +
      this.customFields.push(cellText(row.custom_fields), at) +
      this.edgeErrorName.push(row.edge_error_name ?? "", at);
    this.time.push(row.at_ms, at);
    this.status.push(row.status, at);
    this.originStatus.push(row.origin_status ?? Number.NaN, at);
    this.bytesIn.push(row.bytes_in, at);
    this.bytesOut.push(row.bytes_out, at);
    this.duration.push(row.duration_ms, at);
    for (let i = 0; i < events.length; i++) this.units += this.events.push(events[i]!, at);
    this.before = row;
    this.rows = at + 1;
  }

  /** The rows that were pushed since the last call. */
  take(): PackedRows {
    const { rows } = this;
    this.rows = this.units = 0;
    this.before = null;
    return {
      table: "requests",
      rows,
      facets: this.facets.map((packer) => packer.take(rows)),
      texts: this.texts.map((packer) => packer.take(rows)),
      numbers: this.numbers.map((packer) => packer.take(rows)),
      ...(this.events.rows > 0 && { events: this.events.take() }),
    };
  }

  private makeRoom(): void {
    this.room *= 2;
    for (const packer of [...this.facets, ...this.texts, ...this.numbers]) packer.grow(this.room);
  }
}

class EventPacker {
  rows = 0;
  private readonly requests = new PositionPacker();
  private readonly rule = new FacetPacker("rule");
  private readonly matches = new TextPacker();
  private before: RequestEvent["rule"] | null = null;
  private room = FIRST_ROWS;

  /** Returns the length of the added text, in UTF-16 units. */
  push({ rule, matches }: RequestEvent, request: number): number {
    const { rows: at } = this;
    if (at === this.room) this.makeRoom();
    this.requests.push(request, at);
    // The same rule is the same object.
    this.rule.push(fields(rule), at, rule === this.before);
    this.before = rule;
    this.rows = at + 1;
    return this.matches.push(cellText(matches), at);
  }

  take(): PackedEvents {
    const { rows } = this;
    this.rows = 0;
    this.before = null;
    return { rows, requests: this.requests.take(rows), rule: this.rule.take(rows), matches: this.matches.take(rows) };
  }

  private makeRoom(): void {
    this.room *= 2;
    for (const packer of [this.requests, this.rule, this.matches]) packer.grow(this.room);
  }
}

const fields = (row: object): AnyRow => row as AnyRow;

/** Conservative: if a text is absent in one and empty in the other, it returns false. */
const isSameKind = (a: RequestRow, b: RequestRow): boolean =>
  a.method === b.method &&
  a.scheme === b.scheme &&
  a.http_version === b.http_version &&
  a.tls_version === b.tls_version &&
  a.content_type === b.content_type &&
  a.cache_status === b.cache_status &&
  a.country === b.country &&
  a.edge_error === b.edge_error;
