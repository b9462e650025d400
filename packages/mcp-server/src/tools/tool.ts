import type { Client, Clock, FieldSpec, Version } from '@call-attribution/core';
import type { Outcome, Spend } from '@call-attribution/questions';
import type { AnnotatedNumbers, Annotation } from '@call-attribution/settings';
import * as z from 'zod';
import type { Words } from '../configured.ts';
import type { Source } from '../copy/source.ts';
import type { RecordView } from '../fields.ts';
import type { Reveal } from '../privacy/mask.ts';

// A tool, independent of any SDK. Schemas are typed as public types see them: a tool of your own
// may use another copy of zod 4.

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
export type OutputOf<Schema extends ObjectSchema> = NonNullable<
  Schema['~standard']['types']
>['output'];

/** What a tool of your own may use while it runs. */
export interface CustomToolContext {
  /** The version of the API that the client speaks. */
  readonly version: Version;
  /**
   * Resolves to the client of the API. Rejects with an error that names the setting that is
   * missing.
   */
  client(): Promise<Client>;
  /** The whole field table. */
  readonly fields: readonly FieldSpec[];
  /** Shows a record as the other tools do: masked, cleaned and fenced. */
  readonly view: RecordView;
  /** The time zone of the account, as the operator says. */
  readonly timeZone: string | undefined;
  /** Aborted when the call is cancelled or takes too long. */
  readonly signal: AbortSignal;
  /** Reports progress to the client, if it asked for that. */
  progress(done: number, total: number | null, message: string): void;
}

/** Files by their names, for the accounts that a call is about. */
interface FilesOfCall<T> {
  readonly names: readonly string[];
  /** Reads what some of them say, in the way that a report says, if it says one. */
  read(names: readonly string[], how: string | null): Promise<readonly T[]>;
}

/** What the tools of this package may use while they run. */
export interface ToolContext extends CustomToolContext {
  /** Where the calls of the accounts are asked that the call is about. */
  readonly source: Source;
  /** Kinds of personal data that are shown as they are. */
  readonly reveal: ReadonlySet<Reveal>;
  /** The folder for a file of all rows; null where the rows are an answer, of as many as fit. */
  readonly folder: string | null;
  /** Conditions that have names, and which calls do not count. */
  readonly words: Words;
  /** What was spent, by the names that the operator has given. */
  readonly spend: FilesOfCall<Spend>;
  /** What calls became, with pseudonyms for numbers. */
  readonly outcomes: FilesOfCall<Outcome>;
  /** The annotations of a period that are about the accounts of the call, in the order of days. */
  annotations(period: Pick<AnnotatedNumbers, 'from' | 'to'>): readonly Annotation[];
  /** Most tokens a result may take, by estimate. */
  readonly budget: number;
  /** The current time in milliseconds since 1970. */
  readonly clock: Pick<Clock, 'now'>;
  /** The naive time of now, in the zone of the account or else in that of this machine. */
  now(): number;
}

/** A tool as hosts and agents see it. */
export interface ToolInfo {
  /** The name that agents call it by. */
  readonly name: string;
  /** The name that people see. */
  readonly title: string;
  /** What it does, for agents. Every word costs tokens in each conversation. */
  readonly description: string;
  /** Schema of the arguments. */
  readonly input: ObjectSchema;
  /** Schema of the structured result. */
  readonly output: ObjectSchema;
}

/** A tool of this package. */
export interface Tool<Input extends ObjectSchema = ObjectSchema> extends ToolInfo {
  /** Schema of the arguments. */
  readonly input: Input;
  /**
   * The questions that it is for, in a few words for the instructions; empty for a tool that needs
   * none.
   */
  readonly answers: string;
  /** What else hosts should know, such as the page that shows results. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Resolves to data that matches `output`. Throws a `ToolError` on failure. */
  run(args: OutputOf<Input>, context: ToolContext): Promise<Record<string, unknown>>;
}

/**
 * What most tools return; which parts are always there helps no model, and costs as many tokens as
 * a tool.
 */
export const tableOutput = {
  summary: z.string(),
  columns: z.array(z.string()),
  rows: z.array(z.array(z.any())),
  complete: z.boolean(),
  notes: z.array(z.string()),
};

/** Ties the types of a tool's arguments to its input schema. */
export function tool<Input extends ObjectSchema>(of: Tool<Input>): Tool {
  return of as unknown as Tool;
}

/**
 * Limits on lengths are enforced, but writing them into the schemas would only cost a model tokens.
 */
const unwritten = ['minLength', 'maxLength', 'minItems', 'maxItems', 'propertyNames'];

/**
 * Writes a schema that every host accepts: no `$schema` (several hosts refuse a draft they do not
 * know), no references and no alternatives at the root.
 */
export function toJsonSchema(schema: z.ZodType | ObjectSchema, io: 'input' | 'output'): JsonSchema {
  const {
    $schema: _,
    additionalProperties: __,
    ...written
  } = z.toJSONSchema(schema as z.ZodType, {
    io,
    reused: 'inline',
    unrepresentable: 'any',
    override({ jsonSchema }) {
      for (const key of unwritten) delete jsonSchema[key];

      // zod writes the range of safe integers, which is of no use to a model.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      const { additionalProperties: more } = jsonSchema;
      if (typeof more === 'object' && Object.keys(more).length === 0)
        delete jsonSchema.additionalProperties;
    },
  });
  return io === 'input' ? { ...written, additionalProperties: false } : written;
}
