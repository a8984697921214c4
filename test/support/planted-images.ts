import assert from "node:assert/strict";
import { type ApiServer, ask } from "./api-server.ts";

/** One pixel. */
export const TINY_GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==", "base64");

/** An image, a variant and a key. */
export async function plantImages(server: ApiServer): Promise<{ readonly image_id: string; readonly key: string }> {
  const images = `/accounts/${server.account_id}/images/v1`;
  const made = await ask(server, "POST", images, { form: { file: new File([TINY_GIF], "planted.gif"), creator: "planted creator" } });
  assert.equal(made.status, 200, made.text);
  const options = { fit: "pad", width: 4, height: 4, metadata: "none" };
  assert.equal((await ask(server, "POST", `${images}/variants`, { body: { id: "planted", options } })).status, 200);
  const keys = await ask(server, "PUT", `${images}/keys/planted`);
  assert.equal(keys.status, 200, keys.text);
  return { image_id: made.body.result.id, key: keys.body.result.keys[0].value };
}
