import * as z from 'zod';
import { isObject } from '../protocol/messages.ts';
import type { JsonSchema, ObjectSchema } from './schema.ts';

const order = [
  'type',
  'description',
  'enum',
  'minimum',
  'maximum',
  'items',
  'properties',
  'required',
  'additionalProperties',
];

/** Limits on lengths are enforced, but writing them into the schemas would only cost a model tokens. */
const omitted = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'propertyNames']);

/**
 * Writes a schema that every host accepts: no `$schema` (several hosts refuse a draft they do not know), no
 * references, no alternatives at the root, and keys in a fixed order so that caches and snapshots hold.
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
  });
  return tidyObject(io === 'input' ? { ...written, additionalProperties: false } : written);
}

function tidy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidy);
  return isObject(value) ? tidyObject(value) : value;
}

function tidyObject(value: object): JsonSchema {
  const rank = (key: string): number => (order.includes(key) ? order.indexOf(key) : order.length);
  const entries = Object.entries(value)
    .filter(([key, each]) => !omitted.has(key) && !isSafeIntegerLimit(key, each) && !isEmptySchema(key, each))
    .sort((a, b) => rank(a[0]) - rank(b[0]));
  return Object.fromEntries(
    entries.map(([key, each]) => [
      key,
      key === 'properties' && isObject(each) ? mapValues(each, tidy) : tidy(each),
    ]),
  );
}

/** zod writes the range of safe integers, which is of no use to a model. */
function isSafeIntegerLimit(key: string, value: unknown): boolean {
  return /^(?:minimum|maximum)$/.test(key) && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;
}

/** `additionalProperties: {}` is the default. `items: {}` stays: some hosts require it for every list. */
function isEmptySchema(key: string, value: unknown): boolean {
  return key === 'additionalProperties' && isObject(value) && Object.keys(value).length === 0;
}

function mapValues(object: object, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
