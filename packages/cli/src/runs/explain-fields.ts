import type { FieldSpec } from '@call-attribution/core';
import { fields as table } from '@call-attribution/core/record';
import { nearest } from '@call-attribution/query-dsl/nearest';
import type { Handler } from '../args/command.ts';
import { CliError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, show } from '../io.ts';
import { writeRows } from '../output/rows.ts';
import { rowFormats, targetOf } from '../output/target.ts';
import { type Style, styleFor, widthOf } from '../term/style.ts';
import { fitTable } from '../term/table.ts';
import { pad, wrap } from '../term/width.ts';

/** `calls fields`: what each field means, of all fields or of those that match. */
export const fields: Handler = async (args, io) => {
  const word = args.words[0]?.toLowerCase() ?? '';
  const matches = (field: FieldSpec): boolean =>
    [field.name, field.v2, field.v3, field.group, field.meaning].some((text) =>
      text?.toLowerCase().includes(word),
    );
  const found = table.filter(matches);
  if (found.length === 0) {
    throw new CliError(`no field has ${JSON.stringify(args.words[0])} in its name or meaning`, {
      exitCode: exitCodes.notFound,
      hints: [...(await inReports(word)), ...nearField(word), 'calls fields lists all of them'],
    });
  }
  const { format } = targetOf(args, rowFormats);
  if (format !== 'table') {
    const rows = found.map(plain);
    const flat = rows.map((row) => ({ ...row, values: row.values.join(';') }));
    await writeRows(io.stdout, format, format === 'csv' ? flat : rows);
    return exitCodes.ok;
  }
  const style = styleFor(io.stdout, io.env);
  if (found.length <= few) {
    await show(
      io,
      found.flatMap((field, at) => [...(at > 0 ? [''] : []), ...card(field, style, io)]),
    );
    return exitCodes.ok;
  }
  const { lines } = fitTable(
    [
      { title: 'Field', min: 18 },
      { title: 'Group', min: 6 },
      { title: 'Type', min: 6 },
      { title: 'Versions', min: 5 },
      { title: 'Meaning', min: 20 },
    ],
    found.map((field) => [
      field.name,
      field.group,
      typeOf(field),
      versions(field),
      `${field.meaning}${notes(field)}`,
    ]),
    { width: widthOf(io.stdout, io.env), style },
  );
  await show(io, lines);
  return exitCodes.ok;
};

/** What has the name in reports and conditions, and is no field of a record: `missed`. */
async function inReports(word: string): Promise<string[]> {
  const { derivedFields } = await import('@call-attribution/questions');
  const { measures } = await import('@call-attribution/questions/measures');
  const name = word.trim().replace(/[ -]+/g, '_');
  const of = (kind: string, found: string | undefined, meaning: string | undefined): string[] =>
    meaning === undefined ? [] : [`${found} is ${kind} of calls report: ${meaning}`];
  const derived = derivedFields.find((each) => each.name.includes(name));
  const measure = measures.find((each) => each.name.includes(name));
  return [
    ...of('a measure', measure?.name, measure?.meaning),
    ...of('a group or condition', derived?.name, derived?.meaning),
  ];
}

/** The field that was probably meant: by its name or a word of it, such as `campaing`. */
function nearField(word: string): string[] {
  const near = nearest(word, [...new Set(table.flatMap(({ name }) => [name, ...name.split('_')]))]);
  return near === undefined ? [] : [`did you mean ${near}?`];
}

/** So many fields are shown with everything that is known of them. */
const few = 3;

function card(field: FieldSpec, style: Style, io: Io): string[] {
  const width = Math.max(30, (widthOf(io.stdout, io.env) ?? 100) - 10);
  const { values = [], openValues } = field as FieldSpec & { readonly openValues?: boolean };
  const facts: [string, string][] = [
    ['meaning', `${field.meaning}${notes(field)}`],
    ['type', typeOf(field)],
    ['group', field.group],
    ['version', versions(field)],
  ];
  if (values.length > 0) facts.push(['values', [...values, ...(openValues ? ['others'] : [])].join(', ')]);
  return [
    style.bold(field.name),
    ...facts.flatMap(([name, text]) =>
      wrap(text, width).map((line, at) => `  ${style.dim(pad(at === 0 ? name : '', 7))} ${line}`),
    ),
  ];
}

function plain({ name, v2, v3, type, nullable, deprecated, group, personal, ...rest }: FieldSpec) {
  const { values = [], meaning } = rest;
  return { name, v2, v3, type, nullable, deprecated, group, personal, values, meaning };
}

const typeOf = (field: FieldSpec): string =>
  `${field.type}${field.nullable && field.type !== 'null' ? ' or null' : ''}`;

function versions(field: FieldSpec): string {
  if (field.v2 === null) return 'v3';
  if (field.v3 === null) return 'v2';
  return field.v2 === field.v3 ? 'both' : `v2: ${field.v2}`;
}

function notes(field: FieldSpec): string {
  const words = [...(field.personal ? ['personal'] : []), ...(field.deprecated ? ['deprecated'] : [])];
  return words.length > 0 ? ` (${words.join(', ')})` : '';
}
