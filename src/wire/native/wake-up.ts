import type { Koffi } from "./koffi.ts";

/** Makes Node.js's event loop wake up when the descriptor is readable, without calling anything. */
export type WakeUp = (fd: number) => WakeUpHandle;

/** Keeps the thread alive until it is closed. */
export interface WakeUpHandle {
  /** Stops waking up the loop until `start`. */
  stop(): void;
  start(): void;
  close(): void;
}

/** Constant of uv.h. */
export const UV_READABLE = 1;

/**
 * A libuv handle of koffi for a descriptor, without koffi's callback, which would also be called in a thread that is
 * being terminated; that fails and crashes the process. Instead, libuv calls one of its own functions that has no effect,
 * so the wait ends and immediates run. koffi closes the handle together with the thread. Throws if libuv's symbols are
 * not found.
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
