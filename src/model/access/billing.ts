import { Type } from "typebox";

/** Nothing is billed: a profile names its owner and a balance of zero (SPEC 9, 2023-06-06). */
export const BillingProfile = Type.Object({
  id: Type.String({ maxLength: 32 }),
  account_type: Type.String(),
  balance: Type.String(),
  first_name: Type.Union([Type.String(), Type.Null()]),
  last_name: Type.Union([Type.String(), Type.Null()]),
  company: Type.Union([Type.String(), Type.Null()]),
  primary_email: Type.Union([Type.String(), Type.Null()]),
  card_number: Type.Null(),
  next_bill_date: Type.Null(),
  created_on: Type.String({ format: "date-time" }),
});

export const BillingEntry = Type.Object({
  id: Type.String(),
  type: Type.String(),
  action: Type.String(),
  description: Type.String(),
  occurred_at: Type.String({ format: "date-time" }),
  amount: Type.Number(),
  currency: Type.String(),
});
