import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { READ_BUFFER } from "./shared-reads.ts";

/** send(2) on the descriptor of a socket that Node.js has, for what the kernel takes at once (ADR 0026). */
export interface DirectSend {
  /** Sends a text of characters below 256, one a byte. Returns how much of it was taken; nothing of a text that is too long. */
  text(fd: number, text: string): number;
  /** Sends the text and then `READ_BUFFER[start, end)` the same way. */
  textAndRead(fd: number, text: string, start: number, end: number): number;
}

/** The longest text; room for that and a whole read. */
const TEXT_BYTES_MAX = 32_768;
const SEND_BYTES = TEXT_BYTES_MAX + READ_BUFFER.length;

/** Values of Linux, the same on x64 and arm64: send(2). */
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL;

/** Null where koffi is not installed or does not load, or the system is not one whose values we know: then Node.js sends everything. */
export async function loadDirectSend(): Promise<DirectSend | null> {
  if (process.platform !== "linux") return null;
  try {
    const { default: koffi } = await import("koffi");
    const send = koffi.load("libc.so.6").func("int send(int fd, uintptr_t bytes, size_t length, int flags)") as Send;
    return createDirectSend(send, (bytes) => Number(koffi.address(bytes)));
  } catch {
    return null;
  }
}

type Send = (fd: number, address: number, length: number, flags: number) => number;

function createDirectSend(send: Send, addressOf: (bytes: Buffer) => number): DirectSend {
  // The memory of both stays where it is for as long as they live, which is that of the thread.
  const buffer = Buffer.allocUnsafeSlow(SEND_BYTES);
  const [bufferAddress, readAddress] = [addressOf(buffer), addressOf(READ_BUFFER)];
  const taken = (result: number): number => Math.max(0, result);
  return {
    text: (fd, text) => {
      if (text.length > TEXT_BYTES_MAX) return 0;
      buffer.write(text, 0, "latin1");
      return taken(send(fd, bufferAddress, text.length, FLAGS));
    },
    textAndRead: (fd, text, start, end) => {
      if (text === "") return taken(send(fd, readAddress + start, end - start, FLAGS));
      if (text.length > TEXT_BYTES_MAX) return 0;
      buffer.write(text, 0, "latin1");
      READ_BUFFER.copy(buffer, text.length, start, end);
      return taken(send(fd, bufferAddress, text.length + end - start, FLAGS));
    },
  };
}

/** What Node.js has of a socket's own; the descriptor is the one of the handle for as long as the socket has that. */
export interface Handle {
  readonly fd?: unknown;
}

export function handleOf(socket: Socket): Handle | null {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle | null };
  return handle ?? null;
}

/** The descriptor that a plain socket's handle has; -1 where it is not known, and where bytes must be encrypted first. */
export function descriptorOf(socket: Socket, handle: Handle | null): number {
  if (socket instanceof TLSSocket || handle === null) return -1;
  const { fd } = handle;
  return typeof fd === "number" && Number.isInteger(fd) ? fd : -1;
}
