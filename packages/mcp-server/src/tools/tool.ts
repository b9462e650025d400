import type { Client, FieldSpec, Version } from '@call-attribution/core';
import type * as z from 'zod';
import type { RecordView } from '../fields/view.ts';
import type { Reveal } from '../privacy/masking.ts';

/** What a tool may use while it runs. */
export interface ToolContext {
  /** The version of the API that the client speaks. */
  readonly version: Version;
  /** Resolves to the client of the API. Rejects with an error that names the setting that is missing. */
  client(): Promise<Client>;
  /** The whole field table. */
  readonly fields: readonly FieldSpec[];
  /** Shows a record: masked, cleaned and fenced. */
  readonly view: RecordView;
  /** Kinds of personal data that are shown as they are. */
  readonly reveal: ReadonlySet<Reveal>;
  /** Most tokens a result may take, by estimate. */
  readonly budget: number;
  /** The time zone of the account, as the operator says. */
  readonly timeZone?: string;
  /** How many calls and milliseconds `summarize_calls` reads at most. */
  readonly summaryLimits: { readonly rows: number; readonly ms: number };
  /** Aborted when the call is cancelled or takes too long. */
  readonly signal: AbortSignal;
  /** The current time in milliseconds. */
  now(): number;
  /** Reports progress to the client, if it asked for that. */
  progress(done: number, total: number | null, message: string): void;
}

/** A tool, independent of any SDK. */
export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** The name that agents call it by. */
  readonly name: string;
  /** The name that people see. */
  readonly title: string;
  /** What it does, for agents. Every word costs tokens in each conversation. */
  readonly description: string;
  /** Schema of the arguments. */
  readonly input: z.ZodObject<Shape>;
  /** Schema of the structured result. */
  readonly output: z.ZodObject;
  /** Hints for hosts. */
  readonly annotations: {
    /** The tool changes nothing. */
    readonly readOnlyHint: boolean;
    /** Calling it twice does no more than calling it once. */
    readonly idempotentHint: boolean;
    /** The tool talks to a service outside this process. */
    readonly openWorldHint: boolean;
  };
  /** Resolves to data that matches `output`. Throws a `ToolError` on failure. */
  run(args: z.output<z.ZodObject<Shape>>, context: ToolContext): Promise<Record<string, unknown>>;
}

/** Annotations of a tool that reads from the API. */
export const readsApi = { readOnlyHint: true, idempotentHint: true, openWorldHint: true } as const;

/** Annotations of a tool whose result comes from this process alone. */
export const readsNothing = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

/** Ties the types of a tool's arguments to its input schema. */
export function defineTool<Shape extends z.ZodRawShape>(tool: Tool<Shape>): Tool {
  return tool as unknown as Tool;
}
