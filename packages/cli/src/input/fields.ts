import type { Call, FieldSpec } from '@call-attribution/core';
import { propertyOf } from '@call-attribution/core/errors';
import { fields } from '@call-attribution/core/record';
import { nearest } from '@call-attribution/query-dsl/nearest';
import { UsageError } from '../errors.ts';

/** The fields of `--fields`, in the order they were typed; null without it. */
export function readFields(names: readonly string[]): FieldSpec[] | null {
  return names.length > 0 ? fieldsNamed(names) : null;
}

/** The field with this name, of either version; null when there is none. */
export function fieldNamed(name: string): FieldSpec | null {
  return fields.find((entry) => entry.name === name || entry.v2 === name) ?? null;
}

/**
 * The fields with these names, of either version, or as people say them: `campaign` is
 * ppc_campaign.
 */
export function fieldsNamed(names: readonly string[]): FieldSpec[] {
  return names.map((written) => {
    const name = written.toLowerCase().replace(/[ -]+/g, '_');
    const said = fields.filter(({ otherNames = [] }) => otherNames.includes(name));
    const field = fieldNamed(name) ?? (said.length === 1 ? said[0] : undefined);
    if (field) return field;
    const known = fields.flatMap(({ name, v2, otherNames = [] }) => [
      name,
      v2 ?? name,
      ...otherNames,
    ]);
    const [begins] = known.filter((each) => each.startsWith(`${name}_`));
    const near =
      said.length > 0
        ? said.map((each) => each.name).join(' or ')
        : (begins ?? nearest(name, known));
    throw new UsageError(`--fields: a call has no field ${JSON.stringify(written)}`, [
      ...(near ? [`did you mean ${near}?`] : []),
      'calls fields lists all of them',
    ]);
  });
}

/** The fields of a record of this version. */
export function fieldsOf(version: 'v2' | 'v3'): FieldSpec[] {
  return fields.filter((field) => field[version] !== null);
}

/** The value of a field in a call; null when it has none. */
export function valueOfField(call: Call, field: FieldSpec): unknown {
  return propertyOf(call, field.name) ?? null;
}

/** The call reduced to some fields, in their order. */
export function pickFields(call: Call, chosen: readonly FieldSpec[]): Record<string, unknown> {
  return Object.fromEntries(chosen.map((field) => [field.name, valueOfField(call, field)]));
}
