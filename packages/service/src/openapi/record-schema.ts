import type { FieldSpec } from '@call-attribution/core';
import { fields } from '@call-attribution/core/record';

/** A JSON Schema, as far as this document needs one. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

const forms: Readonly<Record<FieldSpec['type'], Schema>> = {
  string: { type: 'string' },
  url: { type: 'string' },
  integer: { type: 'integer' },
  'integer-string': { type: 'string', pattern: '^-?\\d+$' },
  'decimal-string': { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' },
  datetime: { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$' },
  'datetime-tenths': { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d$' },
  null: { type: 'null' },
};

/** The schema of a call record in one version, made from the field table: every field is there, null when it is empty. */
export function recordSchema(version: 'v2' | 'v3'): Schema {
  const own = fields.flatMap((spec) => {
    const name = spec[version];
    return name === null ? [] : [[name, fieldSchema(spec)] as const];
  });
  return {
    type: 'object',
    description: `One call in ${version}. Most numbers are strings, and times have no time zone.`,
    properties: Object.fromEntries(own),
    required: own.map(([name]) => name),
    additionalProperties: false,
  };
}

function fieldSchema(spec: FieldSpec): Schema {
  const { type, ...form } = forms[spec.type];
  return {
    type: spec.nullable && type !== 'null' ? [type, 'null'] : type,
    ...form,
    ...(spec.values && !spec.openValues && { enum: [...spec.values, ...(spec.nullable ? [null] : [])] }),
    description: describe(spec),
    ...(spec.deprecated ? { deprecated: true } : {}),
  };
}

function describe({ meaning, values, valueMeanings }: FieldSpec): string {
  if (!values || !valueMeanings) return meaning;
  return `${meaning} ${values.map((value, i) => `${value}: ${valueMeanings[i]}`).join(', ')}.`;
}
