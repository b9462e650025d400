import type { Call } from '@call-attribution/core';
import {
  type CallSelection,
  QuestionError,
  type QuestionField,
  readOrder,
} from '@call-attribution/questions';
import { fieldSql, needsSequences } from '../ask/fields.ts';
import { readSelection, type StoredSelection } from '../ask/select.ts';
import { selected } from '../ask/selected.ts';
import { isMemoryLimit } from '../errors.ts';
import type { Session } from '../file/session.ts';
import { type Printed, printSql } from '../sql/print.ts';
import { literal, op, type Sql, when } from '../sql/tree.ts';
import { callOf, callOfColumns, recordColumns, recordJson } from '../tables/row-reader.ts';

/** Which calls to give, and in which order. */
export interface CallsQuery extends CallSelection {
  /** Fields to sort by, such as `talk_minutes desc, sid`. Default `date_added, sid`. */
  readonly order?: string | undefined;
  /** Calls at most. Default all. */
  readonly limit?: number | undefined;
  /** Calls to skip first. */
  readonly offset?: number | undefined;
  /** Ends the loop over the calls. */
  readonly signal?: AbortSignal | undefined;
}

// Rows sorted at once. A row takes about 2 kB there.
const sliceSize = 20_000;

/** The calls of a selection exactly as the API sent them. */
export async function* readCalls(session: Session, query: CallsQuery): AsyncGenerator<Call, void, undefined> {
  const plan = await readSelection(query, session);
  const { fields, settings } = plan;
  const order = readOrder(
    query.order ?? 'date_added, sid',
    [...fields.keys()].filter((name) => !needsSequences(name)),
    'a call',
  );
  const sorted = [...order, { column: 'sid', descending: false }, { column: 'account', descending: false }]
    .map(({ column, descending }) => {
      const field = fields.get(column);
      const by = placeSql(field, fieldSql(field?.name ?? column, plan.time, settings));
      return `${printSql(by).sql} ${descending ? 'DESC' : 'ASC'} NULLS LAST`;
    })
    .join(', ');
  const { limit = null, offset = 0 } = query;
  const part = { offset, limit };
  const isCut = offset > 0 || limit !== null;
  const byTime = order[0]?.column === 'date_added' && plan.mostShift === 0 && !isCut;
  const slices = byTime ? await slicesOf(session, plan, order[0]?.descending === true) : [null];
  for (const slice of slices) {
    const { sql, values } = printSql(selected(plan));
    const where = slice === null ? sql : `(${sql}) AND ${slice}`;
    yield* readPart(session, { where, sorted, values }, part);
  }
}

/** What a field is sorted by: days of the week as they follow each other. */
const placeSql = ({ isOrdered, values = [] }: Partial<QuestionField> = {}, field: Sql): Sql =>
  isOrdered ? when(values.map((each, place) => [op('=', field, literal(each)), literal(place)])) : field;

/** Calls in an order. */
interface Sorted {
  readonly where: string;
  readonly values: Printed['values'];
  readonly sorted: string;
}

/** Some of them; without a limit all from the offset on. */
interface Part {
  readonly offset: number;
  readonly limit: number | null;
}

async function* readPart(
  session: Session,
  from: Sorted,
  part: Part,
): AsyncGenerator<Call, number, undefined> {
  let given = 0;
  try {
    for await (const chunk of session.column(partSql(from, part), from.values)) {
      for (const json of chunk) yield callOf(json);
      given += chunk.length;
    }
    return given;
  } catch (error) {
    if (!isMemoryLimit(error)) throw error;
  }
  if (part.limit === 1) {
    const rows = await session.all(partSql(from, part, recordColumns()), from.values);
    for (const row of rows) yield callOfColumns(row);
    return rows.length;
  }
  // Calls with long strings: fewer of them at once.
  const size = Math.ceil((part.limit ?? sliceSize) / 20);
  for (let last = size; last === size && given !== part.limit; given += last) {
    const limit = part.limit === null ? size : Math.min(size, part.limit - given);
    last = yield* readPart(session, from, { offset: part.offset + given, limit });
  }
  return given;
}

function partSql({ where, sorted }: Sorted, { offset, limit }: Part, columns = recordJson()): string {
  // A page is found by what it is sorted by; only its own rows are then read in full.
  const cut = `${limit === null ? '' : `LIMIT ${limit}`} ${offset === 0 ? '' : `OFFSET ${offset}`}`.trim();
  const rows =
    cut === '' ? where : `rowid IN (SELECT rowid FROM records WHERE ${where} ORDER BY ${sorted} ${cut})`;
  return `SELECT ${columns} FROM (SELECT * FROM records WHERE ${rows} ORDER BY ${sorted}) records ORDER BY ${sorted}`;
}

/** Stretches of whole days with a fair number of calls each, as conditions: sorting all calls at once takes much memory. */
async function slicesOf(session: Session, plan: StoredSelection, descending: boolean): Promise<string[]> {
  const where = printSql(selected(plan));
  const days = await session.all(
    `SELECT CAST(date_added AS DATE)::VARCHAR AS day, count(*)::INTEGER AS n FROM records
      WHERE ${where.sql} GROUP BY ALL ORDER BY 1 NULLS LAST`,
    where.values,
  );
  const slices: { first: string; n: number }[] = [];
  for (const { day, n } of days) {
    const last = slices.at(-1);
    if (day === null) continue;
    if (last && last.n + Number(n) <= sliceSize) last.n += Number(n);
    else slices.push({ first: String(day), n: Number(n) });
  }
  const conditions = slices.map(({ first }, i) => {
    const next = slices[i + 1]?.first;
    return `date_added >= DATE '${first}'${next === undefined ? '' : ` AND date_added < DATE '${next}'`}`;
  });
  if (descending) conditions.reverse();
  return days.some(({ day }) => day === null) ? [...conditions, 'date_added IS NULL'] : conditions;
}

/** One call by its `sid`, or null. Without an account all are searched, and two calls with the `sid` are an error. */
export async function readCall(
  session: Session,
  sid: string,
  account: string | undefined,
): Promise<Call | null> {
  const from = `FROM records WHERE sid = $1${account === undefined ? '' : ' AND account = $2'}`;
  const values = account === undefined ? [sid] : [sid, account];
  const rows = await session.all(`SELECT account ${from}`, values);
  if (rows.length > 1) {
    throw new QuestionError(
      'invalid_question',
      `Several accounts have a call with this sid: ${rows.map((row) => String(row.account)).join(', ')}. Name one of them.`,
    );
  }
  if (rows.length === 0) return null;
  try {
    return callOf(String((await session.one(`SELECT ${recordJson()} AS json ${from}`, values)).json));
  } catch (error) {
    if (!isMemoryLimit(error)) throw error;
    return callOfColumns(await session.one(`SELECT ${recordColumns()} ${from}`, values));
  }
}
