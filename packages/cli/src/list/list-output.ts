import type { Call, FieldSpec, Version } from '@call-attribution/core';
import { type CliError, unfitValue } from '../errors.ts';
import { type Io, show, write } from '../io.ts';
import type { RowFormat } from '../output/target.ts';
import { cellText, fieldsNamed, fieldsOf, pickFields, valueOfField } from '../reading/fields.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { type Column, fitTable } from '../term/table.ts';

// The fields that say most about a call.
const defaultFields = [
  'date_added',
  'sid',
  'ani',
  'talk_minutes',
  'channel',
  'ppc_campaign',
  'phone_label',
  'referrer',
  'ppc_status',
];
// Which of them are kept longest on a narrow terminal.
const kept = [
  'date_added',
  'talk_minutes',
  'ani',
  'ppc_campaign',
  'sid',
  'channel',
  'phone_label',
  'referrer',
  'ppc_status',
];
const numeric = new Set(['integer', 'integer-string', 'decimal-string']);

/** What the calls of a list are written as. */
export interface ListForm {
  readonly format: RowFormat;
  /** The fields of --fields; null without it. */
  readonly fields: readonly FieldSpec[] | null;
  /** The versions that the accounts are read with. */
  readonly versions: readonly Version[];
  /** Several accounts are read: each row begins with its account. */
  readonly several: boolean;
}

/** Where the calls of a list go: a table, or data on stdout. */
export interface ListOutput {
  add(call: Call, account: string | null): Promise<void>;
  /** Finishes the output, and returns the columns that did not fit. `head`: what stands above a table. */
  close(head: readonly string[]): Promise<readonly string[]>;
}

/** Opens the output of a list. */
export function listOutput({ format, ...form }: ListForm, io: Io): ListOutput {
  return format === 'table' ? tableOutput(form, io) : dataOutput(format, form, io);
}

function tableOutput(form: Omit<ListForm, 'format'>, io: Io): ListOutput {
  const { several, versions } = form;
  const fields =
    form.fields ??
    fieldsNamed(defaultFields).filter((field) => versions.some((version) => field[version] !== null));
  const rows: string[][] = [];
  return {
    async add(call, account) {
      const cells = fields.map((field) => cellText(valueOfField(call, field)));
      rows.push(several ? [account ?? '', ...cells] : cells);
    },
    async close(head) {
      const above = head.length === 0 ? [] : [...head, ''];
      if (rows.length === 0) {
        if (above.length > 0) await show(io, head);
        return [];
      }
      const style = styleFor(io.stdout, io.env);
      const columns = [
        ...(several ? [{ title: 'account', min: 12, rank: -1 }] : []),
        ...fields.map((field, at) => columnOf(field, form.fields === null ? kept.indexOf(field.name) : at)),
      ];
      const table = fitTable(columns, rows, { width: widthOf(io.stdout, io.env), style });
      await show(io, [...above, ...table.lines]);
      return table.dropped;
    },
  };
}

// A truncated time, number or id is useless, so such a column is dropped rather than narrowed.
function columnOf({ name, type, isId, mask }: FieldSpec, rank: number): Column {
  const isTime = type === 'datetime' || type === 'datetime-tenths';
  const isPhone = mask?.kind === 'phone' || name === 'dnis';
  const isNumber = numeric.has(type) && !isId;
  return {
    title: name,
    rank,
    min: isTime || isId || isPhone || isNumber ? 21 : 10,
    align: isNumber ? 'right' : 'left',
  };
}

const isOdd = (cell: unknown): boolean => typeof cell === 'string' && !cell.isWellFormed();

/** Text that would be another one in the file. */
const halfPair = ({ sid }: Call, field: FieldSpec | undefined): CliError =>
  unfitValue(`column ${field?.name} in call ${sid} has half of a surrogate pair, which CSV has no form for`);

function dataOutput(
  format: Exclude<RowFormat, 'table'>,
  { fields, versions, several }: Omit<ListForm, 'format'>,
  io: Io,
): ListOutput {
  const chosen = fields ?? [...new Set(versions.flatMap(fieldsOf))];
  let written = 0;
  const start = async () => {
    const { csvLine } = await import('@call-attribution/node-stream/encoders');
    const names = chosen.map((field): string => field.name);
    if (format === 'csv') await write(io.stdout, csvLine(several ? ['account', ...names] : names));
    if (format === 'json') await write(io.stdout, '[');
    return csvLine;
  };
  let started: ReturnType<typeof start> | null = null;
  return {
    async add(call, account) {
      started ??= start();
      const csvLine = await started;
      const record = { ...(several ? { account } : {}), ...(fields ? pickFields(call, fields) : call) };
      if (format === 'csv') {
        const cells = chosen.map((field) => valueOfField(call, field));
        const line = csvLine(several ? [account, ...cells] : cells);
        if (!line.isWellFormed()) throw halfPair(call, chosen[cells.findIndex(isOdd)]);
        await write(io.stdout, line);
      } else if (format === 'ndjson') await write(io.stdout, `${JSON.stringify(record)}\n`);
      else await write(io.stdout, `${written === 0 ? '' : ','}\n${JSON.stringify(record)}`);
      written++;
    },
    async close() {
      await (started ?? start());
      if (format === 'json') await write(io.stdout, written === 0 ? ']\n' : '\n]\n');
      return [];
    },
  };
}
