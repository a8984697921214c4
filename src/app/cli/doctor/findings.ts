/** The result of one check. */
export interface Finding {
  readonly what: string;
  /** If it is wrong: the cause, then what to do. */
  readonly finding: string;
  readonly isGood: boolean;
}

export const good = (what: string, finding: string): Finding => ({ what, finding, isGood: true });

export const wrong = (what: string, cause: string, remedy: string): Finding => ({ what, finding: `${cause}. ${remedy}`, isGood: false });
