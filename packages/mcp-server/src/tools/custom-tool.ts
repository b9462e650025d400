import type { JsonSchema, ObjectSchema, OutputOf } from '../arguments/schema.ts';
import type { CustomToolContext } from './tool.ts';

/** A tool of your own, next to those of this package. `defineTool` ties the type of its arguments to `input`. */
export interface CustomTool<Args = Record<string, unknown>> {
  /** The name that agents call it by: letters, digits, `_` and `-`. */
  readonly name: string;
  /** The name that people see. Default: none. */
  readonly title?: string;
  /** What it does, for agents. Every word costs tokens in each conversation. */
  readonly description: string;
  /** The arguments: a zod object, or a JSON Schema of an object. Default: none. */
  readonly input?: ObjectSchema | JsonSchema;
  /** The result: a zod object, or a JSON Schema of an object. Default: anything. */
  readonly output?: ObjectSchema | JsonSchema;
  /** Hints for hosts, such as `readOnlyHint`. Default: none. */
  readonly annotations?: Readonly<Record<string, boolean | string>>;
  /**
   * Resolves to an object, which agents get as structured content, or to a string. What it throws becomes the result of the call:
   * agents read the message, without secrets.
   */
  run(args: Args, context: CustomToolContext): object | string | Promise<object | string>;
}

/** Ties the type of the arguments to a zod schema. */
export function defineTool<Input extends ObjectSchema>(
  tool: CustomTool<OutputOf<Input>> & { readonly input: Input },
): CustomTool;
/**
 * The same for a JSON Schema, or no arguments.
 *
 * @example
 * const branchOf = defineTool({
 *   name: 'branch_of',
 *   description: 'The branch that a dialed number belongs to.',
 *   input: z.object({ dnis: z.string() }),
 *   run: async ({ dnis }) => ({ branch: await lookUp(dnis) }),
 * });
 */
export function defineTool(tool: CustomTool & { readonly input?: JsonSchema }): CustomTool;
export function defineTool(tool: unknown): CustomTool {
  return tool as CustomTool;
}
