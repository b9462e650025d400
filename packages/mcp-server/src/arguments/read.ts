import { findProblem } from '@call-attribution/core/settings';
import { nearest } from '@call-attribution/query-dsl';
import { splitList } from '@call-attribution/questions';
import * as z from 'zod';
import { isObject } from '../protocol/messages.ts';
import { ToolError } from '../text/failures.ts';
import type { ObjectSchema, OutputOf } from './schema.ts';

/**
 * Reads the arguments of a call against the input schema of its tool. Hosts differ in how they send values, so lists
 * may also be JSON strings or comma-separated strings, and numbers and booleans may be strings. Unknown names are refused.
 */
export function readArguments<Input extends ObjectSchema>(
  tool: string,
  schema: Input,
  given: unknown,
): OutputOf<Input> {
  const input = asZod(schema);
  const raw = rawArguments(given);
  const accepted = Object.keys(input.shape);
  if (!isObject(raw)) throw new ToolError({ code: 'not_an_object', tool, accepted });
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    // Some hosts send null, false or an empty string for everything that was left out, unknown names too.
    if (value === null || value === undefined || value === '') continue;
    const field = Object.hasOwn(input.shape, name) ? input.shape[name] : undefined;
    if (value === false && !(field && inner(field) instanceof z.ZodBoolean)) continue;
    if (field === undefined) {
      const meant = nearest(name, accepted);
      throw new ToolError({ code: 'unknown_argument', name, nearest: meant, tool, accepted });
    }
    values[name] = lenient(field, value);
  }
  const read = findProblem(input, values);
  if ('problem' in read) throw new ToolError({ code: 'invalid_argument', ...read.problem, tool, accepted });
  return read.data as OutputOf<Input>;
}

/** A schema as zod: one of another copy of zod 4 counts. */
export function asZod(schema: unknown): z.ZodObject {
  if (schema instanceof z.ZodObject) return schema;
  throw new TypeError('The schema is not one of z.object(...) of zod 4.');
}

/** The arguments of a call as they were sent: as an object, in a string of JSON, or not at all. */
export function rawArguments(given: unknown): unknown {
  return typeof given === 'string' ? parseJson(given) : (given ?? {});
}

/** The value of a JSON string, or the string itself. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The type inside optional and default wrappers. */
function inner(field: z.ZodType): z.ZodType {
  let type = field;
  while (type instanceof z.ZodOptional || type instanceof z.ZodDefault) type = type.unwrap() as z.ZodType;
  return type;
}

/** Converts a string to the type that the schema expects, where that is unambiguous. */
function lenient(field: z.ZodType, value: unknown): unknown {
  const type = inner(field);
  if (type instanceof z.ZodArray) return toList(value);
  if (typeof value !== 'string')
    return typeof value === 'number' && type instanceof z.ZodString ? String(value) : value;
  if (type instanceof z.ZodNumber && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value)) return Number(value);
  if (type instanceof z.ZodBoolean && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  return value;
}

function toList(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (text.startsWith('[')) {
    const parsed = parseJson(text);
    if (Array.isArray(parsed)) return parsed;
  }
  return splitList(text)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
