import { nearest } from '@call-attribution/query-dsl';
import * as z from 'zod';
import { isObject } from '../protocol/messages.ts';
import { cleanText, cutText } from '../untrusted/clean.ts';
import { argumentError } from './tool-error.ts';

/**
 * Reads the arguments of a call against the input schema of its tool. Hosts differ in how they send values, so
 * lists may also come as JSON text or as comma-separated text, and numbers and booleans as text. Unknown names are refused.
 */
export function readArguments<Shape extends z.ZodRawShape>(
  tool: string,
  input: z.ZodObject<Shape>,
  given: unknown,
): z.output<z.ZodObject<Shape>> {
  const raw = typeof given === 'string' ? parseObject(given) : (given ?? {});
  const names = Object.keys(input.shape);
  const accepted = names.length === 0 ? `${tool} takes no arguments.` : `${tool} takes: ${names.join(', ')}.`;
  if (!isObject(raw)) throw argumentError('The arguments must be one JSON object.', accepted);
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    const field = Object.hasOwn(input.shape, name) ? (input.shape[name] as z.ZodType) : undefined;
    if (!field) {
      const meant = nearest(name, names);
      const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
      throw argumentError(`There is no argument "${shorten(name)}".${hint}`, accepted);
    }
    // Some hosts send null or empty text for everything that was left out.
    if (value !== null && value !== undefined && value !== '') values[name] = lenient(field, value);
  }
  const parsed = input.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const where = issue?.path.length ? `"${issue.path.join('.')}": ` : '';
  throw argumentError(`${where}${issue?.message ?? 'not valid'}`, accepted);
}

const shorten = (text: string): string => cutText(cleanText(text), 60);

function parseObject(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The type under optional and default wrappers. */
function inner(field: z.ZodType): z.ZodType {
  let type = field;
  while (type instanceof z.ZodOptional || type instanceof z.ZodDefault) type = type.unwrap() as z.ZodType;
  return type;
}

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
    const parsed = parseObject(text);
    if (Array.isArray(parsed)) return parsed;
  }
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
