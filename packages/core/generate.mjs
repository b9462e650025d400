// Makes everything that follows from the table of fields: types, validators, adapters, schemas and
// docs/fields.md.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';

const head = '// Made by `pnpm generate` from packages/core/src/record/fields.ts. Do not edit.\n';
const place = 'packages/core/src/record/generated';

async function loadFields() {
  const source = readFileSync(join(import.meta.dirname, 'src/record/fields.ts'), 'utf8');
  const { code } = transformSync(source, { loader: 'ts', format: 'esm' });
  const table = await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);
  return table.fields;
}

const wireType = { string: 'string', url: 'string', integer: 'number', null: 'null' };

function tsType(spec) {
  if (spec.name === 'ppc_status') return 'PpcStatus | (string & {})';
  const type = wireType[spec.type] ?? 'string';
  return spec.nullable && type !== 'null' ? `${type} | null` : type;
}

function docLine(spec) {
  const values = spec.values && !spec.openValues ? ` One of ${spec.values.join(', ')}.` : '';
  return `  /** ${spec.deprecated ? '@deprecated ' : ''}${spec.meaning}${values} */`;
}

function viewType(spec) {
  if (spec.type.startsWith('datetime')) return 'Moment | null';
  if (spec.type === 'integer-string' || spec.type === 'decimal-string') return 'number | null';
  return tsType(spec);
}

const property = (name, spec, optional = false) =>
  `${docLine(spec)}\n  readonly ${name}${optional ? '?' : ''}: ${tsType(spec)};`;

const object = (name, doc, lines) =>
  `/** ${doc} */\nexport type ${name} = {\n${lines.join('\n')}\n};\n`;

/**
 * Type aliases, not interfaces: only these can be passed where a record of unknown values is
 * expected.
 */
function calls(fields) {
  const status = fields.find((spec) => spec.name === 'ppc_status');
  const names = (list) => list.map((name) => `\n  | '${name}'`).join('');
  const optional = (spec) => spec.v2 === null || spec.v3 === null;
  return [
    `${head}import type { Moment } from '../../time/moment.ts';\n`,
    `/** The documented values of \`ppc_status\`; others may be added. */\nexport type PpcStatus =${names(status.values)};\n`,
    `/** Version-neutral name of a field. */\nexport type FieldName =${names(fields.map((spec) => spec.name))};\n`,
    object(
      'Call',
      'A version-neutral call record: v3 names, values as sent. Fields that only one version has are optional.',
      fields.map((spec) => property(spec.name, spec, optional(spec))),
    ),
    object(
      'CallView',
      'A call with numbers instead of numeric strings and instants instead of naive times; made by `readCall`.',
      [
        ...fields.map(
          (spec) =>
            `${docLine(spec)}\n  readonly ${spec.name}${optional(spec) ? '?' : ''}: ${viewType(spec)};`,
        ),
        '  /** Fields that have a value, but not one that the table allows. */\n  readonly unreadable: readonly FieldName[];',
      ],
    ),
    object(
      'CallV2',
      'A call record as v2 sends it.',
      fields.filter((spec) => spec.v2).map((spec) => property(spec.v2, spec)),
    ),
    object(
      'CallV3',
      'A call record as v3 sends it.',
      fields.filter((spec) => spec.v3).map((spec) => property(spec.v3, spec)),
    ),
  ].join('\n');
}

const forms = {
  'integer-string': 'isIntegerString',
  'decimal-string': 'isDecimalString',
  datetime: 'isDateTime',
  'datetime-tenths': 'isDateTimeTenths',
};

function condition(name, spec) {
  const value = `r.${name}`;
  const or = spec.nullable ? `${value} === null || ` : '';
  if (spec.type === 'null') return `${value} === null`;
  if (spec.values && !spec.openValues)
    return `(${or}${spec.values.map((v) => `${value} === ${JSON.stringify(v)}`).join(' || ')})`;
  if (spec.type === 'integer') return `(${or}Number.isSafeInteger(${value}))`;
  const form = forms[spec.type];
  return form ? `(${or}${form}(${value}))` : `(${or}typeof ${value} === 'string')`;
}

function checks(fields) {
  const parts = ['v2', 'v3'].map((version) => {
    const mine = fields.filter((spec) => spec[version]);
    const body = mine.map((spec) => condition(spec[version], spec)).join(' &&\n    ');
    return `/** Does every field that ${version} documents hold what the table says? With static property reads, because it runs for every record. */
export function keepsTable${version.toUpperCase()}(r: Row): boolean {
  return (
    ${body}
  );
}
`;
  });
  const row = fields.flatMap((spec) => [...new Set([spec.name, spec.v2, spec.v3].filter(Boolean))]);
  return [
    `${head}import { isDateTime, isDateTimeTenths, isDecimalString, isIntegerString } from '../wire-forms.ts';\n`,
    `/** A record before it is checked. */\nexport interface Row {\n${row.map((n) => `  ${n}?: unknown;`).join('\n')}\n}\n`,
    ...parts,
  ].join('\n');
}

function adapters(fields) {
  const copy = (to, from, orNull) =>
    fields
      .filter((spec) => spec[to] && (orNull || spec[from]))
      .map((spec) => `    ${spec[to]}: r.${spec[from] ?? spec[to]}${orNull ? ' ?? null' : ''},`)
      .join('\n');
  return `${head}import type { Row } from './checks.ts';

/** The documented fields of a v2 record, with neutral names. */
export function neutralFromV2(r: Row): Row {
  return {
${copy('name', 'v2', false)}
  };
}

/** A neutral record as v2 would send it; missing values are null. */
export function viewV2(r: Row): Row {
  return {
${copy('v2', 'name', true)}
  };
}

/** A neutral record as v3 would send it; missing values are null. */
export function viewV3(r: Row): Row {
  return {
${copy('v3', 'name', true)}
  };
}
`;
}

// With patterns instead of the functions of the quick check, which zod could not write as a JSON
// Schema.
const patterns = {
  'integer-string': '/^-?\\d+$/',
  'decimal-string': '/^-?\\d+(\\.\\d+)?$/',
  datetime: '/^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d$/',
  'datetime-tenths': '/^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d$/',
};

function zodType(spec) {
  let type = { integer: 'z.int()', null: 'z.null()' }[spec.type] ?? 'z.string()';
  if (patterns[spec.type]) type += `.regex(${camelCase(spec.type)}, '${spec.type}')`;
  if (spec.values && !spec.openValues)
    type += `.refine((value) => ${JSON.stringify(spec.values)}.includes(value), 'one of the listed values')`;
  return spec.nullable && spec.type !== 'null' ? `${type}.nullable()` : type;
}

const camelCase = (words) => words.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

/** What a JSON Schema says of a field besides its type. */
function zodMeta({ meaning, values, valueMeanings, openValues, deprecated }) {
  const means =
    valueMeanings && ` ${values.map((value, i) => `${value}: ${valueMeanings[i]}`).join(', ')}.`;
  const listed = values && !openValues ? { enum: values } : {};
  return JSON.stringify({
    ...listed,
    description: meaning + (means ?? ''),
    ...(deprecated && { deprecated: true }),
  });
}

function schemas(fields) {
  const make = (name, doc, list) =>
    `/** ${doc} */\nexport const ${name} = z.looseObject({\n${list.join('\n')}\n});\n`;
  const line = (name, spec, optional = false) =>
    `  ${name}: ${zodType(spec)}${optional ? '.exactOptional()' : ''}.meta(${zodMeta(spec)}),`;
  return [
    `${head}import { z } from 'zod';

${Object.entries(patterns)
  .map(([type, pattern]) => `const ${camelCase(type)} = ${pattern};`)
  .join('\n')}
`,
    make(
      'callSchema',
      'Zod schema of the version-neutral record. Unknown fields pass.',
      fields.map((spec) => line(spec.name, spec, spec.v2 === null || spec.v3 === null)),
    ),
    make(
      'callV2Schema',
      'Zod schema of a v2 record. Unknown fields pass.',
      fields.filter((spec) => spec.v2).map((spec) => line(spec.v2, spec)),
    ),
    make(
      'callV3Schema',
      'Zod schema of a v3 record. Unknown fields pass.',
      fields.filter((spec) => spec.v3).map((spec) => line(spec.v3, spec)),
    ),
  ].join('\n');
}

function docs(fields) {
  const groups = [...new Set(fields.map((spec) => spec.group))];
  const codes = (names) => names.map((name) => `\`${name}\``).join(', ');

  const notes = (spec) => {
    const list = [];
    if (spec.v2 && spec.v3 && spec.v2 !== spec.v3) list.push(`\`${spec.v2}\` in v2.`);
    if (spec.deprecated) list.push('Deprecated.');
    if (spec.mask) list.push(`Personal (${spec.mask.class}).`);
    if (spec.values) {
      const named = spec.valueMeanings
        ? spec.values.map((value, i) => `${value} ${spec.valueMeanings[i]}`).join(', ')
        : codes(spec.values);
      list.push(`Values: ${named}${spec.openValues ? ' (others may come)' : ''}.`);
    }

    if (spec.aliases) list.push(`Also accepted as ${codes(spec.aliases)}.`);
    return list;
  };

  const line = (spec) => {
    const only = spec.v2 && spec.v3 ? '' : `${spec.v3 ? 'v3' : 'v2'}, `;
    const nullable = spec.nullable && spec.type !== 'null' ? '?' : '';
    const name = `\`${spec.name}\`${spec.visitorText ? '\\*' : ''}`;
    return `- ${name} (${only}${spec.type}${nullable}): ${[spec.meaning, ...notes(spec)].join(' ')}`;
  };

  const lists = groups.map((group) => {
    const own = fields.filter((spec) => spec.group === group);
    return `## ${group}\n\n${own.map(line).join('\n')}\n`;
  });
  return `<!-- Made by \`pnpm generate\` from packages/core/src/record/fields.ts. Do not edit. -->
# Fields of a call record

${fields.length} fields under their v3 names; ${fields.filter((s) => s.v2).length} of them are in v2, ${fields.filter((s) => s.v3).length} in v3. Every record has every field of its version. In parentheses: the version, if
only one has the field, and the wire type; \`?\` means that it may be null. Values stay as sent: most numbers are decimal strings, and times
have no zone. An asterisk marks text that visitors or websites wrote: do not trust it. *Personal* fields never appear in errors and logs;
those of one class are masked together.

${lists.join('\n')}`;
}

export async function generate() {
  const fields = await loadFields();
  return [
    { path: `${place}/calls.ts`, text: calls(fields) },
    { path: `${place}/checks.ts`, text: checks(fields) },
    { path: `${place}/adapters.ts`, text: adapters(fields) },
    { path: `${place}/schemas.ts`, text: schemas(fields) },
    { path: 'docs/fields.md', text: docs(fields) },
  ];
}
