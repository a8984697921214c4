import type { TestEvent } from "node:test/reporters";

/** A reporter for node:test that writes the path of each file in which a test failed, one a line, as often as one did. */
// The runner wants it so.
// oxlint-disable-next-line no-default-export
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) if (type === "test:fail") yield `${data.file ?? data.name}\n`;
}
