import type { Client, FieldSpec, Version } from '@call-attribution/core';
import type * as z from 'zod';
import type { RecordView } from '../fields/view.ts';
import type { Reveal } from '../privacy/classes.ts';

/** What a tool may use while it runs. */
export interface ToolContext {
  readonly version: Version;
  /** The client of the API; an error that names the missing variable when it cannot be made. */
  client(): Promise<Client>;
  /** The whole field table. */
  readonly fields: readonly FieldSpec[];
  readonly view: RecordView;
  /** Kinds of personal data that are shown as they are. */
  readonly reveal: ReadonlySet<Reveal>;
  /** Most tokens a result may take, by estimate. */
  readonly budget: number;
  readonly timeZone?: string;
  /** How far `summarize_calls` reads. */
  readonly summaryLimits: { readonly rows: number; readonly ms: number };
  readonly signal: AbortSignal;
  /** Milliseconds now. */
  now(): number;
  /** Tells the client how far the call is, when it asked to know. */
  progress(done: number, total: number | null, message: string): void;
}

/** A tool, free of any SDK. */
export interface Tool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: z.ZodObject<Shape>;
  readonly output: z.ZodObject;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  /** Answers with data that fits `output`. A failure is thrown as a `ToolError`. */
  run(args: z.output<z.ZodObject<Shape>>, context: ToolContext): Promise<Record<string, unknown>>;
}

/** Every tool only reads, and reads from a service outside. */
export const readsService = { readOnlyHint: true, idempotentHint: true, openWorldHint: true } as const;

/** A tool whose answer comes from this process alone. */
export const readsNothing = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

/** Ties the types of a tool's arguments to its input schema. */
export function defineTool<Shape extends z.ZodRawShape>(tool: Tool<Shape>): Tool {
  return tool as unknown as Tool;
}
