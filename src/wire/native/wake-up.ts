import type { Koffi } from "./koffi.ts";

/** Lets Node's event loop wake up when the descriptor can be read. Nothing is called. */
export type WakeUp = (fd: number) => WakeUpHandle;

/** It keeps the thread alive until it is closed. */
export interface WakeUpHandle {
  /** The loop does not wake up any more, until `start`. */
  stop(): void;
  start(): void;
  close(): void;
}

/** uv.h. */
export const UV_READABLE = 1;

/**
 * koffi's handle of libuv for a descriptor, without its callback: that would be called as well in a thread that is being
 * ended, where no JavaScript runs any more, and the failure of it ends the whole process. Instead of it libuv calls a function of
 * its own that does nothing, so that only the waiting ends; immediates run next. The handle stays koffi's, which closes it
 * together with the thread. Throws where the symbols of libuv are not found.
 */
export function createWakeUp(koffi: Koffi): WakeUp {
  const node = koffi.load(null);
  const getLoop = node.func("int napi_get_uv_event_loop(void *env, _Out_ void **loop)");
  const visit = koffi.proto("void (void *handle, void *argument)");
  const walk = node.func("uv_walk", "void", ["void *", koffi.pointer(visit), "void *"]);
  const typeOf = node.func("int uv_handle_get_type(void *handle)");
  const typeName = node.func("const char *uv_handle_type_name(int type)");
  const fileOf = node.func("int uv_fileno(void *handle, _Out_ int *fd)");
  const start = node.func("int uv_poll_start(void *handle, int events, void *callback)");
  const doNothing: unknown = node.symbol("uv_handle_get_data");
  const loop = [null];
  if (getLoop(koffi.node.env, loop) !== 0) throw new Error("this thread has no event loop");
  return (fd) => {
    const handle = koffi.node.poll(fd, { readable: true }, () => undefined);
    const polls: unknown[] = [];
    walk(
      loop[0],
      (each: unknown) => {
        const file = [-1];
        if (typeName(typeOf(each)) === "poll" && fileOf(each, file) === 0 && file[0] === fd) polls.push(each);
      },
      null,
    );
    const startAll = (): void => polls.forEach((poll) => start(poll, UV_READABLE, doNothing));
    startAll();
    return { stop: () => handle.stop(), start: startAll, close: () => handle.close() };
  };
}
