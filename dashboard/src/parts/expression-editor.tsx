import {
  autocompletion,
  type Completion,
  type CompletionContext,
  completionKeymap,
  type CompletionResult,
  completionStatus,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { linter, lintKeymap } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, tooltips } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef, useState } from "react";
import type { CheckedExpression } from "#model/rulesets/rule-expression.ts";
import { api } from "../api/client.ts";
import css from "./expression-editor.module.css";

/** Colours only: what is right or wrong is the server's to say. */
const language = StreamLanguage.define<null>({
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/^\$[\w.]+/)) return "variableName.special";
    if (stream.match(/^(?:[\da-fA-F]*:[\da-fA-F:]+|\d+(?:\.\d+){3})(?:\/\d+)?/)) return "number";
    if (stream.match(/^\d+/)) return "number";
    if (stream.match(/^(?:and|or|not|xor|in|eq|ne|lt|le|gt|ge|contains|matches|wildcard|strict|true|false)\b/)) return "keyword";
    if (stream.match(/^[a-z_]\w*(?=\()/)) return "function";
    if (stream.match(/^[a-z_][\w.]*/)) return "propertyName";
    stream.next();
    return "operator";
  },
  tokenTable: { function: tags.function(tags.variableName) },
});
const colours = HighlightStyle.define([
  { tag: tags.string, color: "var(--good)" },
  { tag: tags.keyword, color: "var(--accent-ink)", fontWeight: "600" },
  { tag: tags.number, color: "var(--warn)" },
  { tag: tags.function(tags.variableName), color: "var(--bad)" },
  { tag: tags.propertyName, color: "var(--ink)" },
]);
const look = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "var(--surface)", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { fontFamily: "var(--mono)", lineHeight: "22px", padding: "10px 4px", caretColor: "var(--ink)", minHeight: "88px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    boxShadow: "var(--shadow)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxWidth: "min(440px, 80vw)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-soft) !important",
    color: "var(--accent-ink) !important",
  },
  // The underline of the library is a picture in a data address.
  ".cm-lintRange.cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad) 1px",
    textUnderlineOffset: "4px",
  },
});

/** Typed over a selection by the browser itself, the colours would be kept in style attributes, which the policy refuses. */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.data === null || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

interface Props {
  readonly zone: string;
  readonly phase: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly labelledBy: string;
}

/** The expression of a rule, in colours, with completions; whether it can be read is the server's to say. */
export function ExpressionEditor({ zone, phase, value, onChange, labelledBy }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const [problem, setProblem] = useState<string>();
  const [formatted, setFormatted] = useState<string>();
  const format = (): void => {
    const { current } = view;
    if (current && formatted !== undefined) current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: formatted } });
  };
  useEffect(() => {
    // In a shadow root the editor keeps its styles in a constructed sheet; in the page it would add a style element, which the
    // policy refuses.
    const root = host.current!.shadowRoot ?? host.current!.attachShadow({ mode: "open" });
    const complete = async (context: CompletionContext): Promise<CompletionResult | null> => {
      const word = context.matchBefore(/[\w.$]*/);
      if (!context.explicit && (!word || word.from === word.to)) return null;
      const body = { expression: context.state.doc.toString(), phase, complete_at: context.pos };
      const { result } = await api<CheckedExpression>("POST", `/zones/${zone}/rulesets/expressions`, body, { isShown: false });
      const { from, items } = result.completions ?? { from: context.pos, items: [] };
      const options = items.map(({ label, kind, detail, summary }): Completion => ({
        label,
        type: kind === "field" ? "property" : kind,
        detail,
        info: summary,
      }));
      return { from, options, validFor: /^[\w.$]*$/ };
    };
    const check = linter(
      async ({ state }) => {
        const expression = state.doc.toString();
        const { result } = await api<CheckedExpression>("POST", `/zones/${zone}/rulesets/expressions`, { expression, phase });
        setProblem(result.problem?.message);
        setFormatted(result.formatted ?? undefined);
        if (!result.problem) return [];
        const line = state.doc.line(Math.min(result.problem.line, state.doc.lines));
        const from = Math.min(line.from + result.problem.column - 1, line.to);
        return [
          { from: Math.max(line.from, Math.min(from, line.to - 1)), to: line.to, severity: "error", message: result.problem.message },
        ];
      },
      { delay: 250 },
    );
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: value,
        extensions: [
          history(),
          drawSelection(),
          bracketMatching(),
          language,
          syntaxHighlighting(colours),
          autocompletion({ override: [complete], icons: false }),
          check,
          keymap.of([...completionKeymap, ...lintKeymap, ...defaultKeymap, ...historyKeymap]),
          typeOverSelection,
          EditorView.lineWrapping,
          look,
          // The edge of a dialog cuts off the list of completions.
          tooltips({ tooltipSpace: () => (host.current?.closest("[role=dialog]") ?? document.documentElement).getBoundingClientRect() }),
          EditorView.contentAttributes.of({ "aria-label": "Expression", "aria-multiline": "true" }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            // Escape closes an open list of completions, and then not the dialog as well, whose library listens before the editor.
            host.current?.setAttribute("data-mantine-stop-propagation", String(completionStatus(state) !== null));
            if (docChanged) onChange(state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [zone, phase]);
  return (
    <div className={css["frame"]} data-bad={problem !== undefined || undefined} aria-labelledby={labelledBy} role="group">
      <div ref={host} />
      <div className={css["state"]}>
        <span role="status">{problem ?? "The expression can be read."}</span>
        {problem === undefined && formatted !== undefined && formatted !== value && (
          <button type="button" onClick={format}>
            Format
          </button>
        )}
      </div>
    </div>
  );
}
