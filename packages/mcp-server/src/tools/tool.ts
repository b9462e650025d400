import type { Client, Clock, FieldSpec, Version } from '@call-attribution/core';
import type { ObjectSchema, OutputOf } from '../arguments/schema.ts';
import type { Source } from '../copy/source.ts';
import type { RecordView } from '../fields/view.ts';
import type { Reveal } from '../privacy/mask.ts';

/** What a tool of your own may use while it runs. */
export interface CustomToolContext {
  /** The version of the API that the client speaks. */
  readonly version: Version;
  /** Resolves to the client of the API. Rejects with an error that names the setting that is missing. */
  client(): Promise<Client>;
  /** The whole field table. */
  readonly fields: readonly FieldSpec[];
  /** Shows a record as the other tools do: masked, cleaned and fenced. */
  readonly view: RecordView;
  /** The time zone of the account, as the operator says. */
  readonly timeZone?: string;
  /** Aborted when the call is cancelled or takes too long. */
  readonly signal: AbortSignal;
  /** Reports progress to the client, if it asked for that. */
  progress(done: number, total: number | null, message: string): void;
}

/** What the tools of this package may use while they run. */
export interface ToolContext extends CustomToolContext {
  /** Where the calls of the accounts are asked that the call is about. */
  readonly source: Source;
  /** Kinds of personal data that are shown as they are. */
  readonly reveal: ReadonlySet<Reveal>;
  /** Where files of rows are written for a host on this machine; null without. */
  readonly exportFolder: string | null;
  /** Most tokens a result may take, by estimate. */
  readonly budget: number;
  /** The current time in milliseconds since 1970. */
  readonly clock: Pick<Clock, 'now'>;
  /** The naive time of now, in a zone, by default that of the account or else UTC. */
  now(zone?: string): number;
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
  /** Hints for hosts. */
  readonly annotations: {
    /** The tool changes nothing. */
    readonly readOnlyHint: boolean;
    /** Calling it twice does no more than calling it once. */
    readonly idempotentHint: boolean;
  };
}

/** A tool, independent of any SDK. */
export interface Tool<Input extends ObjectSchema = ObjectSchema> extends ToolInfo {
  /** Schema of the arguments. */
  readonly input: Input;
  /** What else hosts should know, such as the page that shows results. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Resolves to data that matches `output`. Throws a `ToolError` on failure. */
  run(args: OutputOf<Input>, context: ToolContext): Promise<Record<string, unknown>>;
}

/** Annotations of a tool that reads. That it talks to a service outside this process is the default of the protocol. */
export const readsApi = { readOnlyHint: true, idempotentHint: true } as const;

/** Ties the types of a tool's arguments to its input schema. */
export function defineTool<Input extends ObjectSchema>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool;
}
