import type { Call, Client, FieldSpec } from '@call-attribution/core';
import type { Args, Handler } from '../args/command.ts';
import { cellText, fieldsOf, pickFields, readColumns, valueOfField } from '../calls/columns.ts';
import { contextOf, openClient } from '../calls/connect.ts';
import { filterOf } from '../calls/filter.ts';
import { formatOf } from '../calls/output.ts';
import { readSettings } from '../config/settings.ts';
import { UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Io, say, write } from '../io.ts';
import { count, plural } from '../term/numbers.ts';
import { styleFor, widthOf } from '../term/style.ts';
import { type Column, renderTable } from '../term/table.ts';

// What says most about a call; the last ones go first when the terminal is narrow.
const shownFirst = [
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
  if (args.flag('all') && (args.text('limit') !== null || args.text('page') !== null)) {
    throw new UsageError('--all shows every call; give it without --limit and --page');
  }
  const asked = args.list('columns');
  const columns = asked.length > 0 ? readColumns(asked, '--columns') : null;
  const settings = readSettings(args, io);
  const version = settings.apiVersion.value;
  const filter = filterOf(args, contextOf(settings, io));
  const client = await openClient(settings, args, io);
  try {
    const query = { filter, signal: io.signal };
    const seen = read(client, query, limit, page);
    if (format === 'table')
      return await showTable(seen, columns ?? defaults(version), args, io, { limit, page });
    await writeData(seen, format, columns, version, io);
    return exitCodes.ok;
  } finally {
    await client.close();
  }
};

/** A call and how many match in all, as far as the server says. */
interface Seen {
  readonly call: Call;
  readonly total: number | null;
}

async function* read(client: Client, query: object, limit: number, page: number): AsyncGenerator<Seen, void> {
  if (limit === Number.POSITIVE_INFINITY) {
    const { createCallStream } = await import('@call-attribution/node-stream');
    for await (const call of createCallStream(client, query)) yield { call, total: null };
    return;
  }
  // A request may ask for less than the limit at once; pages are counted in the limit all the same.
  const rows = Math.min(limit, 250);
  const skip = page * limit;
  let at = Math.floor(skip / rows) * rows;
  for await (const { records, range } of client.pages({ ...query, rows, start: at / rows })) {
    for (const call of records) {
      if (at >= skip + limit) return;
      if (at++ >= skip) yield { call, total: range?.total ?? null };
    }
    if (at >= skip + limit) return;
  }
}

function defaults(version: 'v2' | 'v3'): FieldSpec[] {
  return readColumns(shownFirst, 'list').filter((field) => field[version] !== null);
}

async function showTable(
  seen: AsyncIterable<Seen>,
  columns: readonly FieldSpec[],
  args: Args,
  io: Io,
  place: { limit: number; page: number },
): Promise<number> {
  const style = styleFor(io.stdout, io.env, args.flag('no-color'));
  const rows: string[][] = [];
  let total: number | null = null;
  for await (const next of seen) {
    total = next.total;
    rows.push(columns.map((field) => cellText(valueOfField(next.call, field))));
  }
  if (rows.length === 0) {
    say(io, 'no calls match');
    return exitCodes.ok;
  }
  const heads = columns.map(heading);
  const table = renderTable(heads, rows, { width: widthOf(io.stdout, io.env), style });
  await write(io.stdout, `${table.lines.join('\n')}\n`);
  const first = place.limit === Number.POSITIVE_INFINITY ? 0 : place.page * place.limit;
  const of = total === null ? '' : ` of ${count(total)}`;
  say(io, `${plural(rows.length, 'call')}: ${count(first + 1)} to ${count(first + rows.length)}${of}`);
  if (table.dropped.length > 0) say(io, `no room for ${table.dropped.join(', ')}; --columns chooses others`);
  if (total !== null && first + rows.length < total)
    say(io, `--page ${place.page + 1} shows the next, --all shows every one`);
  return exitCodes.ok;
}

// A cut date or id is of no use: rather fewer columns than such ones.
const whole = new Set(['sid', 'ani', 'dnis', 'acct_id', 'pid']);

function heading(field: FieldSpec): Column {
  const time = field.type === 'datetime' || field.type === 'datetime-tenths';
  const number = numeric.has(field.type) && !whole.has(field.name);
  return {
    title: field.name,
    min: time || whole.has(field.name) || number ? 21 : 10,
    align: number ? 'right' : 'left',
  };
}

async function writeData(
  seen: AsyncIterable<Seen>,
  format: 'json' | 'ndjson' | 'csv',
  columns: readonly FieldSpec[] | null,
  version: 'v2' | 'v3',
  io: Io,
): Promise<void> {
  const { csvLine } = await import('@call-attribution/node-stream');
  const chosen = columns ?? fieldsOf(version);
  let many = 0;
  if (format === 'csv') await write(io.stdout, csvLine(chosen.map((field) => field.name)));
  if (format === 'json') await write(io.stdout, '[');
  for await (const { call } of seen) {
    const record = columns ? pickFields(call, columns) : call;
    if (format === 'csv') await write(io.stdout, csvLine(chosen.map((field) => valueOfField(call, field))));
    else if (format === 'ndjson') await write(io.stdout, `${JSON.stringify(record)}\n`);
    else await write(io.stdout, `${many === 0 ? '' : ','}\n${JSON.stringify(record)}`);
    many++;
  }
  if (format === 'json') await write(io.stdout, many === 0 ? ']\n' : '\n]\n');
}
