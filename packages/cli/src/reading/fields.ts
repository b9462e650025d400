import type { Call, FieldSpec } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { fields } from '@call-attribution/core/record';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';

/** The fields of `--fields`, in the order they were typed; null without it. */
export function readFields(args: Args): FieldSpec[] | null {
  const names = args.list('fields');
  return names.length > 0 ? fieldsNamed(names) : null;
}

/** The field with this name, of either version; null when there is none. */
export function fieldNamed(name: string): FieldSpec | null {
  return fields.find((entry) => entry.name === name || entry.v2 === name) ?? null;
}

/** The fields with these names, of either version. */
export function fieldsNamed(names: readonly string[]): FieldSpec[] {
  return names.map((name) => {
    const field = fieldNamed(name);
    if (field) return field;
    const near = nearestField(name);
    throw new UsageError(`--fields: a call has no field ${JSON.stringify(name)}`, {
      hints: [...(near ? [`did you mean ${near}?`] : []), 'calls fields lists all of them'],
    });
  });
}

/** The field whose name, or what people call it, is nearest to a mistyped one: `campaign` is ppc_campaign. */
function nearestField(typed: string): string | undefined {
  const named = new Map(
    fields.flatMap(({ name, v2, otherNames = [] }) =>
      [name, v2 ?? name, ...otherNames].map((each) => [each, name]),
    ),
  );
  return named.get(typed.toLowerCase()) ?? named.get(nearest(typed, [...named.keys()]) ?? '');
}

/** The fields of a record of this version. */
export function fieldsOf(version: 'v2' | 'v3'): FieldSpec[] {
  return fields.filter((field) => field[version] !== null);
}

/** The value of a field in a call; null when it has none. */
export function valueOfField(call: Call, field: FieldSpec): unknown {
  return propertyOf(call, field.name) ?? null;
}

/** A value as a person reads it. */
export function cellText(value: unknown): string {
  return value === null || value === undefined ? '' : String(value);
}

/** The call reduced to some fields, in their order. */
export function pickFields(call: Call, chosen: readonly FieldSpec[]): Record<string, unknown> {
  return Object.fromEntries(chosen.map((field) => [field.name, valueOfField(call, field)]));
}
