import { ActionIcon, Button, TextInput } from "@mantine/core";
import { Choice } from "../../../parts/choice.tsx";
import { COUNTRIES, countryName } from "../../../api/countries.ts";
import { Icon } from "../../../parts/icon.tsx";
import { Notice } from "../../../parts/page.tsx";
import tools from "../../../parts/tools.module.css";
import css from "./expression-builder.module.css";
import { builtOf, type Built, type Clause, expressionOf, FIELDS, kindOf, mayBeEmpty, OPERATORS } from "./expression-parts.ts";

interface BuilderProps {
  readonly value: string;
  readonly onChange: (expression: string) => void;
}

/** The same expression as the editor's, as rows of field, comparison and value. */
export function ExpressionBuilder({ value, onChange }: BuilderProps) {
  const built = builtOf(value);
  if (!built)
    return (
      <Notice tone="accent" title="This expression is more than the builder can show">
        Go on in the editor; nothing is lost by looking here.
      </Notice>
    );
  const { clauses, joint } = built;
  const set = (next: Partial<Built>): void => onChange(expressionOf({ ...built, ...next }));
  const change = (at: number, part: Partial<Clause>): void =>
    set({ clauses: clauses.map((clause, i) => (i === at ? { ...clause, ...part } : clause)) });
  return (
    <div className={css["builder"]}>
      {clauses.length === 0 && <p className={tools["hint"]}>Every request matches.</p>}
      {clauses.map((clause, at) => {
        const kind = kindOf(clause.field);
        return (
          <div key={at} className={css["row"]} role="group" aria-label={`Condition ${at + 1}`}>
            {at === 0 ? (
              <span className={css["joint"]}>If</span>
            ) : (
              <Choice
                label={`Joined to condition ${at}`}
                isQuiet
                value={joint}
                options={[
                  ["and", "and"],
                  ["or", "or"],
                ]}
                onChange={(next) => set({ joint: next })}
              />
            )}
            <Choice
              label={`Field of condition ${at + 1}`}
              isQuiet
              value={clause.field}
              options={FIELDS.map(({ name, title }) => [name, title] as const)}
              onChange={(field) =>
                change(at, kindOf(field) === kind ? { field } : { field, operator: OPERATORS[kindOf(field)][0]?.[0] ?? "eq", value: "" })
              }
            />
            <Choice
              label={`Comparison of condition ${at + 1}`}
              isQuiet
              value={clause.operator}
              options={OPERATORS[kind]}
              onChange={(operator) => change(at, { operator })}
            />
            {kind === "country" && !clause.operator.endsWith("in") ? (
              <div className={css["value"]}>
                <Choice
                  label={`Value of condition ${at + 1}`}
                  isQuiet
                  value={clause.value}
                  options={countriesWith(clause.value)}
                  isRequired
                  onChange={(code) => change(at, { value: code })}
                />
              </div>
            ) : (
              kind !== "switch" && (
                <TextInput
                  size="xs"
                  className={css["value"] ?? ""}
                  aria-label={`Value of condition ${at + 1}`}
                  placeholder={FIELDS.find(({ name }) => name === clause.field)?.example ?? ""}
                  value={clause.value}
                  required={!mayBeEmpty(clause)}
                  onChange={({ currentTarget }) => change(at, { value: currentTarget.value })}
                  spellCheck={false}
                  autoComplete="off"
                />
              )
            )}
            {kind === "country" && clause.operator.endsWith("in") && (
              <p className={tools["hint"]}>
                {clause.value.trim() === ""
                  ? "Codes of countries with a space between them, such as DE FR"
                  : clause.value.trim().split(/\s+/).map(nameOrFault).join(", ")}
              </p>
            )}
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={`Remove condition ${at + 1}`}
              onClick={() => set({ clauses: clauses.filter((_, i) => i !== at) })}
            >
              <Icon name="close" size={16} />
            </ActionIcon>
          </div>
        );
      })}
      <div className={tools["row"]}>
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={14} />}
          onClick={() =>
            set({
              clauses: [
                ...clauses,
                { field: clauses.length === 0 ? "http.request.uri.path" : "ip.src.country", operator: "eq", value: "" },
              ],
            })
          }
        >
          Add a condition
        </Button>
      </div>
      <pre className={tools["code"]} aria-label="The expression" role="group" tabIndex={0}>
        {value}
      </pre>
    </div>
  );
}

const nameOrFault = (code: string): string =>
  COUNTRIES.some(([known]) => known === code) ? countryName(code) : `“${code}” is not the code of a country`;

/** The countries to choose from, with the value that the expression has, whatever it is. */
function countriesWith(value: string): readonly (readonly [string, string])[] {
  if (value === "") return [["", "Choose a country"], ...COUNTRIES];
  return COUNTRIES.some(([code]) => code === value) ? COUNTRIES : [[value, value], ...COUNTRIES];
}
