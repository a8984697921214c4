import { atTickEnd, type TickTask } from "#kernel/process/tick-queue.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";

/** Longer texts leave at once: they are worth a write. */
const GATHERED_TEXT_MAX = 16_000;

/**
 * Writes to the connection of a tunnel. Short texts of one tick, such as requests and windows of many streams, leave together: each
 * write over TLS is a record and a system call (ADR 0324). The order stays.
 */
export class GatheringWriter implements TickTask {
  private readonly transport: Transport;
  private text = "";
  private isDue = false;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  string(text: string): void {
    this.text += text;
    if (this.text.length > GATHERED_TEXT_MAX) this.flush();
    else if (!this.isDue) {
      this.isDue = true;
      atTickEnd(this);
    }
  }

  shared(text: string, buffer: Buffer, start: number, end: number): void {
    this.transport.sendShared(this.takeText() + text, buffer, start, end);
  }

  kept(text: string, buffer: Buffer, start: number, end: number, tail = ""): void {
    this.transport.sendKept(this.takeText() + text, buffer, start, end, tail);
  }

  flush(): void {
    if (this.text !== "") this.transport.sendText(this.takeText());
  }

  onTickEnd(): void {
    this.isDue = false;
    this.flush();
  }

  private takeText(): string {
    const { text } = this;
    this.text = "";
    return text;
  }
}
