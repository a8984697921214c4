import assert from "node:assert/strict";
import { test } from "node:test";
import { DETECTORS } from "#rules/detectors/catalog/table.ts";
import { compileDetectors } from "#rules/detectors/engine/compiled.ts";
import { confidences } from "#rules/detectors/engine/proximity.ts";
import { scanText } from "#rules/detectors/engine/scan-text.ts";

const compiled = compileDetectors(DETECTORS.filter(({ enabled }) => enabled));

function confidenceOfCard(text: string): string | undefined {
  const { findings } = scanText(compiled, text);
  const card = findings.find(({ detector }) => detector.id.startsWith("fin.card_"));
  return card && confidences(findings)(card);
}

// Visa, Mastercard, Discover and UnionPay by prefix, length and check digit.
const NUMBERS = ["4716461583322103", "5398228707871527", "4716989580001715211", "6283875070985593"];

test("a number that its key calls an identifier is not a card", () => {
  for (const number of NUMBERS) {
    for (const text of [
      `{"id":${number},"text":"hello"}`,
      `{"id_str": "${number}"}`,
      `{"order_id":"${number}"}`,
      `{\n  "tweetId": ${number}\n}`,
      `{"in_reply_to_status_id_str":"${number}"}`,
      `{"messageID":"${number}"}`,
      `{"orderNumber":"${number}"}`,
      `{"orderid":"${number}"}`,
      `{"user_ids":[${number},1]}`,
      `{"created_ts":${number}}`,
      `{"body":"{\\"id\\":${number}}"}`,
      `{id:${number},n:1}`,
      `order_no: ${number}\n`,
      `<div data-message-id="${number}">`,
      `<ns:OrderId type="x">${number}</ns:OrderId>`,
      `[1787264573211051,${number}]`.replace("1787264573211051", "7".repeat(number.length)),
      `["${number}", "${"7".repeat(number.length)}"]`,
    ])
      assert.equal(confidenceOfCard(text), undefined, text);
  }
});

test("a card stays one by its key, its groups, the cards beside it, or without a key", () => {
  for (const text of [
    `{"pan":"4716461583322103"}`,
    `{"number":4716461583322103}`,
    `{"card_id":"4716461583322103"}`,
    `{"cardNumber":"4716461583322103"}`,
    `{"order_id":"4716-4615-8332-2103"}`,
    `{"paid":"4716461583322103"}`,
    `[4716461583322103,5398228707871527]`,
    `4716461583322103`,
    `17,4716461583322103,none`,
    `order_id=4716461583322103`,
    `user:4716461583322103`,
    `my card 4716989580001715211`,
    `{"pan":"4716989580001715211"}`,
    `4716 9895 8000 1715 211`,
  ])
    assert.equal(confidenceOfCard(text), "high", text);
  // In one piece, longer numbers are identifiers more often than cards.
  assert.equal(confidenceOfCard("value 4716989580001715211"), "medium");
});
