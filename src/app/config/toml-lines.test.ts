import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { createTomlLocator } from "./toml-lines.ts";

const TEXT = `name = 1
[server]
  port = 2 # [not.here]
"quoted key" = 3
a . 'b.c' . "d" = 4
[[zones]]
[ "x y" . z ]
text = """
port = 5
"""
last = { port = 6 }
not a key
`;

const CASES: readonly (readonly [path: readonly string[], line: number])[] = [
  [["name"], 1],
  [["server"], 2],
  [["server", "port"], 3],
  [["server", "quoted key"], 4],
  [["server", "a", "b.c", "d"], 5],
  [["zones"], 6],
  [["x y", "z", "text"], 8],
  [["x y", "z", "port"], 7],
  [["x y", "z", "last", "port"], 11],
  [["elsewhere"], 1],
];

for (const [path, line] of CASES) test(`${path.join(" / ")} is on line ${line}`, () => assert.equal(createTomlLocator(TEXT)(path), line));

test("lines that are not TOML take linear time", () => {
  for (const piece of ["a", " ", "a ", '"', "'a'", ".", "[", "[ ", "[a.", "a.", "=", '"""'])
    assertGrowsLinearly(piece, (length) => {
      const text = piece.repeat(length / piece.length);
      return () => createTomlLocator(text);
    });
});
