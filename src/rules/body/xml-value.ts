import { createFindings } from "./body-reading.ts";
import { addXmlBody } from "./xml.ts";

/** Elements of HTML, with which texts for people begin. */
const HTML: ReadonlySet<string> = new Set(
  (
    "html head body div p span a img b i u s em strong ul ol li dl dt dd table tr td th thead tbody tfoot caption h1 h2 h3 h4 h5 h6 br hr pre code " +
    "kbd samp var blockquote q cite section article aside header footer nav main figure figcaption iframe script noscript style link meta title base " +
    "form input button label select option textarea fieldset svg center font small sub sup mark del ins details summary video audio picture source " +
    "object embed template slot time abbr address canvas map area param track dialog"
  ).split(" "),
);
const FIRST_TAG = /^\s{0,20}<(?:\?xml\s|([a-z_][\w.:-]{0,60})[\s/>])/i;

/** Whether a value that is not declared as XML begins as a document that programs parse, and not as HTML. */
export function beginsAsXmlDocument(value: string): boolean {
  const first = FIRST_TAG.exec(value);
  return first !== null && !HTML.has(first[1]?.toLowerCase() ?? "");
}

/** The texts of the elements and attributes of a document. */
export function xmlValues(document: string): readonly string[] {
  const findings = createFindings();
  addXmlBody(document, true, findings);
  return findings.args.map(({ value }) => value);
}
