// Schemas as public types see them: a tool of your own may use another copy of zod 4, so they do not name it.

/** A JSON Schema as plain data. */
export type JsonSchema = { readonly [key: string]: unknown };

/** A schema of an object, as `z.object(...)` of zod 4 makes it. */
export interface ObjectSchema {
  /** What zod says about itself and its types. */
  readonly '~standard': {
    /** Who made the schema. */
    readonly vendor: string;
    /** The types, which exist for the compiler only. */
    readonly types?: { readonly output: unknown } | undefined;
  };
  /** The schema of each member. */
  readonly shape: Readonly<Record<string, unknown>>;
}

/** What a schema reads. */
export type OutputOf<Schema extends ObjectSchema> = NonNullable<Schema['~standard']['types']>['output'];
