export interface DeprecationCallsTable {
  day: string;
  /** The account of the call; empty for routes without an account. */
  account_id: string;
  deprecation_id: string;
  token_id: string;
  route: string;
  calls: number;
}

export interface RecordedCallsTable {
  account_id: string;
  day: string;
  token_id: string;
  route: string;
  /** Of the form and the API date. */
  shape_hash: string;
  /** JSON of a CallShape. */
  shape: string;
  api_date: string | null;
  calls: number;
}

/** Notices that accounts got. */
export interface DeprecationNoticesTable {
  account_id: string;
  deprecation_id: string;
  /** 90, 30, 7 or 1. */
  days_left: number;
  told_on: string;
}
