import { once } from "#kernel/once.ts";

/** The alternatives of each group of a number or code: a number of digits, or a number of letters. */
type Groups = readonly (readonly string[])[];

const digits = (from: number, to: number): readonly string[] => repeated("#", from, to);
const letters = (from: number, to: number): readonly string[] => repeated("A", from, to);
const repeated = (char: string, from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, more) => char.repeat(from + more));

/** Every choice of one alternative per group, with the separator between them. */
const joined = (separator: string, groups: Groups): readonly string[] =>
  groups.reduce<readonly string[]>(
    (texts, group) => texts.flatMap((text) => group.map((one) => (text === "" ? one : text + separator + one))),
    [""],
  );

const countOf = (template: string, char: string): number => template.split(char).length - 1;

/** Dates are near every name, and are not a person's numbers. */
const isDayForm = (template: string): boolean => /^(?:####[^#]##?[^#]##?|##?[^#]##?[^#](?:##|####))$/.test(template);

// Thousands of forms: they are computed at the first need, because most threads never look for them.

/** Numbers in groups with one separator between them, in any country's grouping. */
export const groupedNumbers = once((): readonly string[] =>
  ["-", " ", "/", "."].flatMap((separator) =>
    [
      ...joined(separator, [digits(1, 12), digits(1, 12)]),
      ...joined(separator, [digits(1, 8), digits(1, 9), digits(1, 8)]),
      ...joined(separator, [digits(1, 5), digits(1, 5), digits(1, 5), digits(1, 5)]),
    ].filter((template) => {
      const count = countOf(template, "#");
      if (count < 5 || count > 18 || isDayForm(template)) return false;
      // Fractions, versions and network addresses have dots as well.
      // linear: pumped
      return separator !== "." || (/\..*\./.test(template) && /####|###$|###\.###/.test(template) && count >= 7);
    }),
  ),
);

/** Letters and digits in groups with a dash or slash between them. */
export const groupedCodes = once((): readonly string[] =>
  ["-", "/"].flatMap((separator) => {
    // Some begin with the letter of a name or district.
    const first = digits(2, 4).map((number) => `A${number}`);
    const group = [...digits(1, 8), ...letters(1, 4)];
    const small = [...digits(1, 6), ...letters(1, 3)];
    const least = [...digits(1, 4), ...letters(1, 2)];
    return [
      ...joined(separator, [[...first, ...group], group]),
      ...joined(separator, [[...first, ...small], small, small]),
      ...joined(separator, [[...first, ...least], least, least, least]),
    ].filter((template) => template.includes("A") && countOf(template, "#") >= 4);
  }),
);

/** In one piece: up to four letters, digits, and up to three letters. Four digits alone are a year or an amount. */
export const plainCodes = once((): readonly string[] =>
  ["", ...letters(1, 4)]
    .flatMap((before) => digits(4, 15).flatMap((number) => ["", ...letters(1, 3)].map((behind) => before + number + behind)))
    .filter((template) => template !== "####"),
);

/**
 * Telephone numbers with their area in parentheses; the chain begins with the digits of the area. Also with a slash after
 * the area.
 */
export const behindArea = once((): readonly string[] =>
  [") ", ")", "/", "-/", " / "].flatMap((separator) =>
    joined(separator, [
      [...digits(1, 6), ...digits(3, 5).map((area) => `# (${area}`)],
      [
        ...digits(4, 8),
        ...["-", " "].flatMap((other) => [
          ...joined(other, [digits(2, 5), digits(2, 5)]),
          ...joined(other, [digits(2, 4), digits(2, 4), digits(2, 4)]),
        ]),
      ],
    ]).filter((template) => countOf(template, "#") >= 7 && countOf(template, "#") <= 14),
  ),
);

const isPlate = (template: string): boolean => {
  const count = countOf(template, "#");
  return count > 0 && count <= 8 && template.includes("A") && !/[A#]{11}/.test(template);
};

/** Registration plates: two to four groups of letters or digits, with or without a space or dash between them. */
export const platesOfAnyForm = once((): readonly string[] =>
  [
    ...new Set(
      ["", "-", " "].flatMap((one) => [
        ...joined(one, [
          [...digits(1, 6), ...letters(1, 4)],
          [...digits(1, 6), ...letters(1, 4)],
        ]),
        ...["", "-", " "].flatMap((other) =>
          joined(other, [
            joined(one, [
              [...digits(1, 4), ...letters(1, 3)],
              [...digits(1, 4), ...letters(1, 3)],
            ]),
            [...digits(1, 4), ...letters(1, 3)],
          ]),
        ),
        ...joined(one, [
          [...digits(1, 3), ...letters(1, 2)],
          [...digits(1, 3), ...letters(1, 2)],
          [...digits(1, 3), ...letters(1, 2)],
          [...digits(1, 4), ...letters(1, 3)],
        ]),
      ]),
    ),
    // India, Australia, Peru, Vietnam and Poland.
    ...[
      "AA #A AA ####",
      "AA#AAA####",
      "AA-#A-AA-####",
      "#AA #AA",
      "#AA-#AA",
      "#AA#AA",
      "#A# ####",
      "A#A-###",
      "A#A ###",
      "##A-###.##",
      "##A-####",
      "A# #####",
    ],
  ].filter(isPlate),
);

/** Forms with several kinds of separators, or with letters among the digits. */
export const MIXED_CODES: readonly string[] = [
  ...["###### #### ## #", "###### #### # # #", "## ## ## ### ##", "## ## ### ### ###", "# ## # ### ##### #", "# ## ## ## ### ### ##"],
  ...["# #### ##### ## #", "## ## ## ## ##", "## ## ### ### ## ##", "#-####-#####-##-#", "#-##-#-###-#####-#", "##-##-##-##-#####"],
  ...["##.###.###-#", "#.###.###-#", "###.###.###-#", "###.###.###-##", "##.##.##-### ##", "##.##.##-###.##", "##.###.###.#-###.###"],
  ...["##.###.###/####-##", "##.###.###.##", "##-###/####", "###### ####-#", "##.###.###A", "##.###.###-A", "#.###.###-A"],
  ...["#######/A/A/###", "#######/A/A/A/###", "#######A/A/A/###", "##-####### A ##", "##-#######A##", "##-###### A ##", "##-######A##"],
  ...["#######AAA###", "#######AAAA###", "#########AA###", "#######A###AA#", "#########AA####", "######### AA ####", "######### AA####"],
  ...["AAAA ###### ***", "AAA ###### ***", "AAAA-######-***", "AAA-######-***", "AAAA######***", "AAA######***", "AAAA ######"],
  ...[
    "AA ########",
    "AAA-###.###.###",
    "AAA ### ### ###",
    "########AAAAAAAA##",
    "##########AAAAAA##",
    "########AAAAAAAA#A",
    "########A###",
  ],
  ...[
    "######## # **#",
    "########*AA#",
    "AA########***A",
    "A########*****",
    "#########**#",
    "A#############A",
    "A##/####/####",
    "A##/###/####",
  ],
  ...["## ######A##", "######A###*", "######-###*", "#######A###A##", "AAA##A*", "##AAAAA####A***", "AAAAAA##A##A###A", "##-AAA-#####"],
  ...["A####### ##A", "A********", "#-######-##-#####", "AAA-#########-#", "AAA-#########", "####-######-###-#", "##-######-###-#"],
  ...["AAAA######AAAAAA*#", "########-#####-#####-##", "##-######-A-##", "###-####-#######-#", "#/AAAAAA(A)######", "##/AAAAAA(A)######"],
  ...["A#-#######-#", "A##AA####A", "## ###/####", "###-##-####A", "###-##-####AA", "#################A", "AAAAA####A"],
  ...[
    "#AA######",
    "#*#####A",
    "#*#####AA",
    "AA ######",
    "AA ## ## ## A",
    "AA-##-##-##-A",
    "A###-########",
    "A###-#########",
    "####-#########",
  ],
];
