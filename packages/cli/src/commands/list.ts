import type { FieldSpec } from '@call-attribution/core';
import type { Args, Handler } from '../args/command.ts';
import { contextOf } from '../calls/connect.ts';
import { cellText, fieldsNamed, fieldsOf, pickFields, readFields, valueOfField } from '../calls/fields.ts';
import { filterOf } from '../calls/filter.ts';
import { formatOf } from '../calls/output.ts';
import type { Match } from '../calls/source.ts';
import { readSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say, write } from '../io.ts';
import { count as figure, plural } from '../term/numbers.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { type Column, renderTable } from '../term/table.ts';
import { openSource } from '../warehouse/source.ts';

// The fields that say most about a call. On a narrow terminal the last ones are dropped first.
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
const numeric = new Set(['integer', 'integer-string', 'decimal-string']);

/** `calls list`: the calls that match, as a table for people or as data for programs. */
export const list: Handler = async (args, io) => {
  const format = formatOf(args);
  const limit = args.flag('all') ? Number.POSITIVE_INFINITY : (args.integer('limit', { min: 1 }) ?? 20);
  const page = args.integer('page') ?? 0;
  if (args.flag('all') && (args.text('limit') !== null || args.text('page') !== null))
    throw new UsageError('--all shows every call; remove --limit and --page');
  const fields = readFields(args);
  const settings = readSettings(args, io);
  const version = settings.apiVersion.value;
  const filter = filterOf(args, contextOf(settings, io));
  const source = await openSource(settings, args, io);
  try {
    const skip = limit === Number.POSITIVE_INFINITY ? 0 : page * limit;
    const matches = source.list({ filter, limit, skip });
    if (format === 'table')
      return await showTable(matches, fields ?? defaults(version), args, io, { limit, page });
    await writeData(matches, format, fields, version, io);
    return exitCodes.ok;
  } finally {
    await source.close();
  }
};

function defaults(version: 'v2' | 'v3'): FieldSpec[] {
  return fieldsNamed(defaultFields).filter((field) => field[version] !== null);
}

async function showTable(
  matches: AsyncIterable<Match>,
  fields: readonly FieldSpec[],
  args: Args,
  io: Io,
  place: { limit: number; page: number },
): Promise<number> {
  const style = styleFor(io.stdout, io.env, args.flag('no-color'));
  const rows: string[][] = [];
  let total: number | null = null;
  for await (const match of matches) {
    total = match.total;
    rows.push(fields.map((field) => cellText(valueOfField(match.call, field))));
  }
  if (rows.length === 0) {
    say(io, 'no calls match');
    return exitCodes.ok;
  }
  const table = renderTable(fields.map(columnOf), rows, { width: widthOf(io.stdout, io.env), style });
  await write(io.stdout, `${table.lines.join('\n')}\n`);
  const first = place.limit === Number.POSITIVE_INFINITY ? 0 : place.page * place.limit;
  const of = total === null ? '' : ` of ${figure(total)}`;
  say(io, `${plural(rows.length, 'call')}: ${figure(first + 1)} to ${figure(first + rows.length)}${of}`);
  if (table.dropped.length > 0)
    say(io, `not enough width for ${table.dropped.join(', ')}; choose fields with --fields`);
  if (total !== null && first + rows.length < total)
    say(io, `--page ${place.page + 1} shows the next page, --all shows all calls`);
  return exitCodes.ok;
}

// A truncated time, number or id is useless, so such a column is dropped rather than narrowed.
function columnOf({ name, type, isId, mask }: FieldSpec): Column {
  const isTime = type === 'datetime' || type === 'datetime-tenths';
  const isPhone = mask?.kind === 'phone' || name === 'dnis';
  const isNumber = numeric.has(type) && !isId;
  return {
    title: name,
    min: isTime || isId || isPhone || isNumber ? 21 : 10,
    align: isNumber ? 'right' : 'left',
  };
}

async function writeData(
  matches: AsyncIterable<Match>,
  format: 'json' | 'ndjson' | 'csv',
  fields: readonly FieldSpec[] | null,
  version: 'v2' | 'v3',
  io: Io,
): Promise<void> {
  const { csvLine } = await import('@call-attribution/node-stream');
  const chosen = fields ?? fieldsOf(version);
  let written = 0;
  if (format === 'csv') await write(io.stdout, csvLine(chosen.map((field) => field.name)));
  if (format === 'json') await write(io.stdout, '[');
  for await (const { call } of matches) {
    const record = fields ? pickFields(call, fields) : call;
    if (format === 'csv') await write(io.stdout, csvLine(chosen.map((field) => valueOfField(call, field))));
    else if (format === 'ndjson') await write(io.stdout, `${JSON.stringify(record)}\n`);
    else await write(io.stdout, `${written === 0 ? '' : ','}\n${JSON.stringify(record)}`);
    written++;
  }
  if (format === 'json') await write(io.stdout, written === 0 ? ']\n' : '\n]\n');
}

/** `calls count`: one number on stdout, so that a script can read it. */
export const count: Handler = async (args, io) => {
  const settings = readSettings(args, io);
  const filter = filterOf(args, contextOf(settings, io));
  const counted = await openSource(settings, args, io);
  try {
    const { total, source } = await counted.count(filter);
    await write(io.stdout, args.flag('json') ? `${JSON.stringify({ total, source })}\n` : `${total}\n`);
    if (args.flag('verbose') && source !== 'warehouse') say(io, `counted by the server (${source})`);
    return exitCodes.ok;
  } finally {
    await counted.close();
  }
};
