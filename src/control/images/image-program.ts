import type { ImageFacts, ImageFault, RenderTask } from "./image-facts.ts";
import { inspectImage, RefusedImage, renderImage } from "./render-image.ts";

/** Work for the program, one piece at a time. */
export type ImageRequest = { readonly id: number } & (
  | { readonly kind: "inspect"; readonly path: string }
  | { readonly kind: "render"; readonly task: RenderTask }
);

/** The first one, with the number 0, says that the library is loaded. */
export interface ImageAnswer {
  readonly id: number;
  readonly facts?: ImageFacts;
  readonly bytes?: Uint8Array;
  readonly fault?: ImageFault;
}

const send = (answer: ImageAnswer): void => void process.send?.(answer);

/** Buffers of large images live until the next collection, and the next image may need their memory. */
function sendAndForget(answer: ImageAnswer): void {
  send(answer);
  globalThis.gc?.();
}

async function answerTo(request: ImageRequest): Promise<ImageAnswer> {
  const { id } = request;
  try {
    if (request.kind === "inspect") return { id, facts: await inspectImage(request.path) };
    return { id, bytes: await renderImage(request.task) };
  } catch (error) {
    return { id, fault: error instanceof RefusedImage ? error.fault : "image_unreadable" };
  }
}

// Decoders are the part of this server that others' bytes reach most deeply: they have a process of their own, which has no
// secrets, and which a limit of memory or time ends without harm.
process.on("message", (request: ImageRequest) => void answerTo(request).then(sendAndForget));
process.on("disconnect", () => process.exit(0));
send({ id: 0 });
