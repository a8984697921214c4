import assert from "node:assert/strict";
import { test } from "node:test";
import { textBefore } from "./context.ts";
import { namedIndex } from "./named-index.ts";

const NAMES = ["nhs", "sin", "soc sec", "cédula", "инн", "αφμ", "個人番号", "passport", "kt"];
const index = namedIndex(NAMES.map((name) => [name, [name]]));

/** The names before the number at the text's end. */
function named(text: string): readonly string[] {
  const bytes = Buffer.from(`${text}1234567`);
  const found = index.in(textBefore(bytes, bytes.length - 7));
  return NAMES.filter((name) => found.has(name));
}

test("short words need word boundaries, and longer ones are found within others", () => {
  for (const text of ["NHS 943", "nhs_number: ", '"nhsNumber":"', "NHSNumber=", "patientNhsNo: ", "kt. "])
    assert.equal(named(text).length, 1, text);
  for (const text of ["using ", "sinus ", "SINGLE ", "bkt ", "nhsx "]) assert.deepEqual(named(text), [], text);
  assert.deepEqual(named("customerpassportno "), ["passport"]);
});

test("words are found across accents, capitals and alphabets", () => {
  assert.deepEqual(named("CÉDULA "), ["cédula"]);
  assert.deepEqual(named("cedula: "), ["cédula"]);
  assert.deepEqual(named("ИНН "), ["инн"]);
  assert.deepEqual(named("винный "), []);
  assert.deepEqual(named("ΑΦΜ: "), ["αφμ"]);
  assert.deepEqual(named("あなたの個人番号は"), ["個人番号"]);
  assert.deepEqual(named("Soc. Sec. No. "), ["soc sec"]);
});

test("context words are found nearby, or as the label before markup", () => {
  assert.deepEqual(named(`passport ${"x".repeat(64)} `), []);
  const attributes = 'class="col-sm-9 font-monospace" data-field-id="8812" aria-describedby="hint-17"';
  assert.deepEqual(named(`<dt ${attributes}>Passport</dt>\n   <dd ${attributes}>`), ["passport"]);
  assert.deepEqual(named(`<input name="passport" ${attributes} value="`), ["passport"]);
  assert.deepEqual(named(`<p>passport</p><p>${"other words ".repeat(6)}</p><p>`), []);
  assert.deepEqual(named(`<p>passport</p><p ${attributes.repeat(4)}>`), []);
});

test("the text before a value in markup equals the result of patterns over the text", () => {
  const ALPHABET = ["<", ">", "<b>", "</i>", '"', "'", " ", "\n", "\t", "\xa0", "a", "Nr", "é", "個", "x".repeat(20)];
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % below;
  };
  for (let turn = 0; turn < 5000; turn++) {
    const bytes = Buffer.from(Array.from({ length: random(120) }, () => ALPHABET[random(ALPHABET.length)]).join(""));
    assert.equal(textBefore(bytes, bytes.length), plainTextBefore(bytes.toString("latin1")));
  }
});

/** The definition: `text` is bytes as characters. */
function plainTextBefore(text: string): string {
  const near = text.slice(-64);
  const far = text.slice(-320);
  const visible = far.replace(/^[^<>]*>/, "").replace(/(?:<[^<>]*>|\s)+/g, " ");
  const open = visible.includes("<") ? visible.lastIndexOf("<") : visible.length;
  const marked = /[<>]/.test(far) ? `${near}\n${visible.slice(0, open).slice(-64)}\n${visible.slice(open)}` : visible.slice(-64);
  const all = /[<>]|["']$/.test(near) ? marked : near;
  const isAscii = [...all].every((char) => char < "\u0080");
  return isAscii
    ? all
    : Buffer.from(all, "latin1")
        .toString()
        .normalize("NFKD")
        .replace(/\p{M}+/gu, "");
}
