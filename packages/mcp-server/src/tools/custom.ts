import { ConfigurationError } from '@call-attribution/core';
import { findProblem } from '@call-attribution/core/settings';
import * as z from 'zod';
import { toJsonSchema } from '../arguments/json-schema.ts';
import { readArguments } from '../arguments/read.ts';
import type { JsonSchema } from '../arguments/schema.ts';
import { isObject } from '../protocol/messages.ts';
import { guarded, orFailure, progressOf, type ToolResult, type ToolSettings, type ToolStep } from './call.ts';
import type { CustomTool } from './custom-tool.ts';
import { tools } from './index.ts';
import { traceTool } from './trace.ts';

/** Tools of the caller's own, ready to be listed and called. */
export interface CustomTools {
  /** As `tools/list` returns them. */
  readonly definitions: readonly Record<string, unknown>[];
  /** Answers calls of them. */
  readonly step: ToolStep;
}

const nameForm = /^[A-Za-z0-9_-]{1,64}$/;

/** Checks tools of the caller's own. */
export function addTools(
  added: readonly CustomTool[],
  settings: ToolSettings,
  limits: { readonly timeoutMs: number; readonly log: (line: string) => void },
): CustomTools {
  const { client, version, fields, view, timeZone } = settings;
  const shared = { client, version, fields, view, ...(timeZone === undefined ? {} : { timeZone }) };
  const byName = new Map<
    string,
    { readonly tool: CustomTool; input: z.ZodObject; output: z.ZodObject | null }
  >();
  for (const tool of added) {
    check(tool, byName.has(tool.name) || tools.some(({ name }) => name === tool.name));
    const input = schemaOf(tool, 'input') ?? z.object({});
    byName.set(tool.name, { tool, input, output: schemaOf(tool, 'output') });
  }
  return {
    definitions: [...byName.values()].map(({ tool, input, output }) => ({
      name: tool.name,
      ...(tool.title === undefined ? {} : { title: tool.title }),
      description: tool.description,
      inputSchema: schemaFor(tool.input, input, 'input'),
      ...(output === null ? {} : { outputSchema: schemaFor(tool.output, output, 'output') }),
      ...(tool.annotations === undefined ? {} : { annotations: tool.annotations }),
    })),
    async step(next, name, args, request = {}) {
      const found = byName.get(name);
      if (found === undefined) return next(name, args, request);
      const { tool, input, output } = found;
      return orFailure(() =>
        traceTool(name, () =>
          guarded(name, { ...limits, isCustom: true }, request, async (signal) => {
            const read = readArguments(name, input, args);
            const result = await tool.run(read, { ...shared, signal, progress: progressOf(request) });
            return resultOf(typeof result === 'string' ? result : checked(result, output));
          }),
        ),
      );
    },
  };
}

function check({ name, description, run }: CustomTool, isTaken: boolean): void {
  const refuse = (message: string): never => {
    throw new ConfigurationError('invalid_option', `tools: ${message}`);
  };
  if (typeof name !== 'string' || !nameForm.test(name))
    refuse(`${JSON.stringify(name)} is not a name; use up to 64 letters, digits, "_" and "-".`);
  if (isTaken) refuse(`there is already a tool ${name}; give yours another name.`);
  if (typeof description !== 'string' || description === '')
    refuse(`${name} needs a description, by which agents decide when to call it.`);
  if (typeof run !== 'function') refuse(`${name} needs a function run(args, context).`);
}

/** A schema as zod. It must be that of an object. */
function schemaOf(tool: CustomTool, which: 'input' | 'output'): z.ZodObject | null {
  const given = tool[which];
  if (given === undefined) return null;
  const schema = given instanceof z.ZodType ? given : fromJsonSchema(given);
  if (schema instanceof z.ZodObject) return schema;
  throw new ConfigurationError(
    'invalid_option',
    `tools: ${which} of ${tool.name} must be z.object(...) of zod 4, or a JSON Schema with "type": "object".`,
  );
}

function fromJsonSchema(given: unknown): z.ZodType | null {
  try {
    return isObject(given) ? z.fromJSONSchema(given as Parameters<typeof z.fromJSONSchema>[0]) : null;
  } catch {
    return null;
  }
}

/** The schema as agents see it: a JSON Schema as it was given. */
const schemaFor = (given: CustomTool['input'], schema: z.ZodObject, io: 'input' | 'output'): JsonSchema =>
  given === undefined || given instanceof z.ZodType ? toJsonSchema(schema, io) : (given as JsonSchema);

function checked(result: object, output: z.ZodObject | null): object {
  if (output === null) return result;
  const read = findProblem<object>(output, result);
  if ('data' in read) return read.data;
  const { path, what } = read.problem;
  throw new Error(`The result is not as its schema says: ${path} ${what}.`);
}

function resultOf(result: object | string): ToolResult {
  if (typeof result === 'string') return { content: [{ type: 'text', text: result }] };
  const content = [{ type: 'text' as const, text: JSON.stringify(result) ?? 'null' }];
  return isObject(result) ? { content, structuredContent: result } : { content };
}
