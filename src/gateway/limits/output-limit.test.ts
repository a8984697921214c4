import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { answerBound, UNBOUND } from "./output-limit.ts";

const bound = (path: string, body: unknown) => {
  const { tokens, answers } = answerBound(path, Buffer.from(JSON.stringify(body)));
  return [tokens, answers];
};

test("the output limit of a request is the largest of its dialect's fields times its number of choices", () => {
  for (const [path, body, expected] of [
    ["/chat/completions", { max_tokens: 5 }, [5, 1]],
    ["/v1/chat/completions?x=1", { max_completion_tokens: 7, max_tokens: 5, n: 3 }, [7, 3]],
    ["/chat/completions", { max_completion_tokens: 1, max_tokens: 100_000 }, [100_000, 1]],
    ["/chat/completions", { n: 10 }, [undefined, 10]],
    ["/chat/completions", { max_output_tokens: 5, generationConfig: { maxOutputTokens: 5 } }, [undefined, 1]],
    ["/chat/completions/", { generationConfig: { maxOutputTokens: 5 } }, [undefined, 1]],
    ["/v1/completions", { max_tokens: 5, best_of: 4, n: 2 }, [5, 4]],
    ["/v1/messages", { max_tokens: 9 }, [9, 1]],
    ["/v1/responses", { max_output_tokens: 9, max_tokens: 1 }, [9, 1]],
    ["/v1beta/models/gemini-2.5-pro:streamGenerateContent", { max_tokens: 1, generationConfig: { candidateCount: 2 } }, [undefined, 2]],
    ["/v1beta/models/gemini-2.5-pro:generateContent", { generation_config: { max_output_tokens: 8 } }, [8, 1]],
    ["/model/anthropic.claude/converse", { inferenceConfig: { maxTokens: 6 } }, [6, 1]],
    ["/model/anthropic.claude/invoke", { max_tokens: 6 }, [6, 1]],
    ["/chat/completions", { max_tokens: 0 }, [undefined, 1]],
    ["/chat/completions", { max_tokens: -1, n: -3 }, [undefined, 1]],
    ["/chat/completions", { max_tokens: "5", n: 1e9 }, [undefined, 128]],
    ["/chat/completions", [1, 2], [undefined, 1]],
    ["/chat/completions", null, [undefined, 1]],
  ] as const)
    assert.deepEqual(bound(path, body), expected, `${path} ${JSON.stringify(body)}`);
  assert.deepEqual(answerBound("/chat/completions", Buffer.from("{nope")), UNBOUND);
});

test("for any body the output limit is absent or positive, and the number of choices is from 1 to 128", () => {
  fc.assert(
    fc.property(fc.constantFrom("/chat/completions", "/v1/messages", "/x:generateContent", "/other"), fc.json(), (path, text) => {
      const { tokens, answers } = answerBound(path, Buffer.from(text));
      assert.ok((tokens === undefined || tokens > 0) && Number.isInteger(answers) && answers >= 1 && answers <= 128);
    }),
  );
});
