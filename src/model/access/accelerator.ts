import { type Static, Type } from "typebox";

const Time = Type.String({ format: "date-time" });
const Name = Type.String({ minLength: 1, maxLength: 160 });

/** A connection between the edge and an organization's origins, in the API that ended in 2020 (SPEC 9, 2020-04-02). */
export const Accelerator = Type.Object({
  id: Type.String({ maxLength: 32 }),
  name: Name,
  enabled: Type.Boolean(),
  zones_connected: Type.Integer(),
  created_on: Time,
  modified_on: Time,
});
export type Accelerator = Static<typeof Accelerator>;

export const AcceleratorCreate = Type.Object({ name: Name });
export type AcceleratorCreate = Static<typeof AcceleratorCreate>;

export const AcceleratorEdit = Type.Partial(
  Type.Object({ name: Name, enabled: Type.Boolean({ description: "Whether the zones of the organization are connected." }) }),
);
export type AcceleratorEdit = Static<typeof AcceleratorEdit>;

export const AcceleratorZone = Type.Object({ id: Type.String({ maxLength: 32 }), name: Type.String() });
export type AcceleratorZone = Static<typeof AcceleratorZone>;
