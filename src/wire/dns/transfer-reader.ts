import { canonicalRdata } from "./canonical.ts";
import { CLASS, TYPE } from "./codes.ts";
import type { ResourceRecord } from "./message.ts";
import { isWithin, keyOf, type NameKey } from "./name.ts";
import { isSerialAfter, soaSerial } from "./serial.ts";

/** One difference of an incremental transfer (RFC 1995 §4), without its two SOA records. */
export interface ZoneDifference {
  readonly from: number;
  readonly to: number;
  readonly removed: readonly ResourceRecord[];
  readonly added: readonly ResourceRecord[];
}

/** A primary's response. `soa` is the zone's current SOA. */
export type Transfer =
  /** The primary has no newer version. */
  | { readonly kind: "current"; readonly soa: ResourceRecord }
  /** The whole zone, without its SOA. */
  | { readonly kind: "full"; readonly soa: ResourceRecord; readonly records: readonly ResourceRecord[] }
  /** Consecutive differences, the first from the requested serial. */
  | { readonly kind: "differences"; readonly soa: ResourceRecord; readonly differences: readonly ZoneDifference[] };

/** Why a response is not a transfer of the zone. The message can be displayed. */
export class TransferError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "TransferError";
  }
}

export interface TransferReader {
  /** Takes the response's records in order. Throws TransferError if a record cannot belong to a transfer of the zone. */
  take(record: ResourceRecord): void;
  /**
   * Call at the end of each message: only there can a single SOA that is not newer be recognized as complete, rather than
   * as the start of a transfer.
   */
  endMessage(): void;
  /** The transfer after its closing record; undefined before. */
  readonly transfer: Transfer | undefined;
}

export interface TransferRequest {
  /** Key of the zone's name. */
  readonly zone: NameKey;
  /** The client's serial in the request (IXFR); null if the whole zone is requested (AXFR). */
  readonly serial: number | null;
  /** Limit of records in the response, including SOA records. */
  readonly recordsMax: number;
}

interface OpenDifference {
  readonly from: number;
  to: number;
  readonly removed: ResourceRecord[];
  readonly added: ResourceRecord[];
}

/** The expected position of the next record. */
type State = "first" | "second" | "whole" | "removed" | "added" | "done";

/**
 * Assembles the records of a response to AXFR (RFC 5936 §2.2) or IXFR (RFC 1995 §4). The transfer is only complete after
 * its closing SOA.
 */
export function createTransferReader({ zone, serial, recordsMax }: TransferRequest): TransferReader {
  let state: State = "first";
  let soa: ResourceRecord | undefined;
  let newest = 0;
  let transfer: Transfer | undefined;
  let taken = 0;
  const records: ResourceRecord[] = [];
  const differences: OpenDifference[] = [];

  const finish = (result: Transfer): void => {
    transfer = result;
    state = "done";
  };
  const begin = (from: number): void => {
    differences.push({ from, to: from, removed: [], added: [] });
    state = "removed";
  };
  const first = (record: ResourceRecord): void => {
    if (record.type !== TYPE.SOA) throw new TransferError("the answer does not begin with an SOA record");
    soa = record;
    newest = soaSerial(record.rdata);
    state = "second";
  };
  const second = (record: ResourceRecord): void => {
    // RFC 1995 §4: a second SOA with the client's serial starts the first difference; any other record belongs to the
    // whole zone.
    if (record.type === TYPE.SOA && serial !== null && soaSerial(record.rdata) === serial && newest !== serial) begin(serial);
    else {
      state = "whole";
      whole(record);
    }
  };
  /** The first record and the last one are the same (RFC 5936 §2.2). */
  const close = (closing: ResourceRecord, result: Transfer): void => {
    const rdataOf = ({ rdata }: ResourceRecord): Buffer => Buffer.from(canonicalRdata(TYPE.SOA, rdata));
    if (!rdataOf(closing).equals(rdataOf(result.soa))) throw new TransferError("the zone changed while it was transferred");
    finish(result);
  };
  const whole = (record: ResourceRecord): void => {
    if (record.type !== TYPE.SOA) records.push(record);
    else close(record, { kind: "full", soa: soa as ResourceRecord, records });
  };
  const difference = (record: ResourceRecord): void => {
    const open = differences.at(-1) as OpenDifference;
    if (record.type !== TYPE.SOA) {
      (state === "removed" ? open.removed : open.added).push(record);
      return;
    }
    const at = soaSerial(record.rdata);
    if (state === "removed") {
      if (!isSerialAfter(at, open.from)) throw new TransferError(`a difference leads from serial ${open.from} to ${at}, which is no later`);
      open.to = at;
      state = "added";
    } else if (at !== open.to) throw new TransferError(`a difference that leads to serial ${open.to} is followed by serial ${at}`);
    else if (at === newest) close(record, { kind: "differences", soa: soa as ResourceRecord, differences });
    else begin(at);
  };
  const steps: Readonly<Record<State, (record: ResourceRecord) => void>> = {
    first,
    second,
    whole,
    removed: difference,
    added: difference,
    done: () => {
      throw new TransferError("the answer goes on behind its closing SOA record");
    },
  };

  return {
    take: (record) => {
      taken += 1;
      if (taken > recordsMax) throw new TransferError(`the answer has more than ${recordsMax} records`);
      if (record.class !== CLASS.IN) throw new TransferError(`a record is of class ${record.class}`);
      const name = keyOf(record.name);
      if (!isWithin(name, zone)) throw new TransferError("a record's name is outside of the zone");
      if (record.type === TYPE.SOA && name !== zone) throw new TransferError("an SOA record stands below the zone's name");
      steps[state](record);
    },
    endMessage: () => {
      if (state === "second" && serial !== null && !isSerialAfter(newest, serial)) finish({ kind: "current", soa: soa as ResourceRecord });
    },
    get transfer() {
      return transfer;
    },
  };
}
