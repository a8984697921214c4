import type { End, Transport } from "#wire/connections/transport/transport.ts";
import type { GatheringWriter } from "./gathering-writer.ts";

/** A stream has no address. */
export const NOWHERE: End = { address: "", port: 0 };

/** A stream, as its connection sees it. */
interface CarriedStream {
  readonly id: number;
  /** The connection takes bytes again. */
  roomAgain(): void;
}

/** The connection of a stream, as the stream sees it. */
export interface StreamCarrier {
  readonly transport: Transport;
  /** All frames are written to it. */
  readonly writer: GatheringWriter;
  /** Streams that get `roomAgain` once the connection takes bytes. */
  readonly blocked: Set<CarriedStream>;
  send(kind: number, stream: number): void;
  forget(stream: CarriedStream): void;
}
