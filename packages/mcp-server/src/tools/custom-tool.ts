import { ConfigurationError } from '@call-attribution/core';
import { checkNames } from '@call-attribution/core/options';
import { findProblem } from '@call-attribution/core/settings';
import * as z from 'zod';
import type { Callable } from './call.ts';
import { type CustomToolContext, type ObjectSchema, type OutputOf, toJsonSchema } from './tool.ts';

/**
 * A tool of your own, next to those of this package. `defineTool` ties the type of its arguments to
 * `input`.
 */
export interface CustomTool<Args = Record<string, unknown>> {
  /** The name that agents call it by: letters, digits, `_` and `-`. */
  readonly name: string;
  /** The name that people see. Default: none. */
  readonly title?: string;
  /** What it does, for agents. Every word costs tokens in each conversation. */
  readonly description: string;
  /** The arguments: a zod object. Default: none. */
  readonly input?: ObjectSchema;
  /** The result: a zod object. Default: anything. */
  readonly output?: ObjectSchema;
  /** Hints for hosts, such as `readOnlyHint`. Default: none. */
  readonly annotations?: Readonly<Record<string, boolean | string>>;
  /**
   * Resolves to an object, which agents get as structured content, or to a string. What it throws
   * becomes the result of the call: agents read the message, without secrets.
   */
  run(args: Args, context: CustomToolContext): object | string | Promise<object | string>;
}

/**
 * Ties the type of the arguments to `input`.
 *
 * @example
 * const branchOf = defineTool({
 *   name: 'branch_of',
 *   description: 'The branch that a dialed number belongs to.',
 *   input: z.object({ dnis: z.string() }),
 *   run: async ({ dnis }) => ({ branch: await lookUp(dnis) }),
 * });
 */
export const defineTool = <Input extends ObjectSchema>(
  tool: CustomTool<OutputOf<Input>> & { readonly input?: Input },
): CustomTool => tool as unknown as CustomTool;

/**
 * Makes a tool of the caller's own callable. Throws when it is none, or when its name `isTaken`.
 */
export function customTool(
  tool: CustomTool,
  isTaken: boolean,
  shared: Omit<CustomToolContext, 'signal' | 'progress'>,
): Callable {
  checkNames(
    tool,
    ['name', 'title', 'description', 'input', 'output', 'annotations', 'run'],
    'tools',
  );
  const { name, title, description, annotations } = tool;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name))
    refuse(`${JSON.stringify(name)} is not a name; use up to 64 letters, digits, "_" and "-".`);
  if (isTaken) refuse(`there is already a tool ${name}; give yours another name.`);
  if (typeof description !== 'string' || description === '')
    refuse(`${name} needs a description, by which agents decide when to call it.`);
  if (typeof tool.run !== 'function') refuse(`${name} needs a function run(args, context).`);
  const input = schemaOf(tool, 'input') ?? z.object({});
  const output = schemaOf(tool, 'output');
  return {
    name,
    definition: {
      title,
      description,
      annotations,
      inputSchema: toJsonSchema(input, 'input'),
      outputSchema: output === null ? undefined : toJsonSchema(output, 'output'),
    },
    input,
    isCustom: true,
    async run(args, { signal, progress }) {
      const result = await tool.run(args, { ...shared, signal, progress });
      if (output === null || typeof result === 'string') return result;
      const read = findProblem<object>(output, result);
      if ('data' in read) return read.data;
      const { path, what } = read.problem;
      throw new Error(`The result is not as its schema says: ${path} ${what}.`);
    },
  };
}

/** A schema, which must be that of an object. */
function schemaOf(tool: CustomTool, which: 'input' | 'output'): z.ZodObject | null {
  const schema: unknown = tool[which];
  if (schema === undefined || schema instanceof z.ZodObject) return schema ?? null;
  return refuse(`${which} of ${tool.name} must be z.object(...) of zod 4.`);
}

function refuse(message: string): never {
  throw new ConfigurationError('invalid_option', `tools: ${message}`);
}
