import { formatNaive } from '@call-attribution/core/time';
import {
  mostGroups,
  type PageBucket,
  type PageDimension,
  type PageGroup,
  type PageMeasures,
  type PageQuestion,
  type PageSummary,
  pageDimensions,
  perDimension,
  periodBefore,
  summaryOfTime,
} from '@call-attribution/service';
import type { SqlRow, Warehouse } from '@call-attribution/warehouse';

/** The numbers of the page in three statements, each of which reads the columns once: extent, totals, groups. */
export async function pageNumbers(
  warehouse: Warehouse,
  question: PageQuestion,
  wanted: PageBucket | 'auto',
): Promise<PageSummary> {
  // An open statement keeps the file open between the others.
  await using _open = await warehouse.query('select 1');
  const [[extent], totals, groups] = await Promise.all([
    rowsOf(
      warehouse,
      `select count(*) as n, ${timeText('min')} as first, ${timeText('max')} as last from calls`,
    ),
    rowsOf(warehouse, totalsSql(question)),
    rowsOf(warehouse, groupsSql(question)),
  ]);
  const [earliest, latest] = [textOf(extent?.first), textOf(extent?.last)];
  const of = (kind: string) => groups.filter((row) => row.kind === kind);
  // A call without a time has no day.
  const days = of('day')
    .filter(({ name }) => name !== null)
    .map(({ name, n, m }) => ({ day: String(name), calls: Number(n), missed: Number(m) }));
  const lists = pageDimensions.map((name) => withoutEmpty(of(name)));
  const isNow = (now: boolean) => totals.find((row) => Boolean(row.now) === now) ?? {};
  return {
    total: measuresOf(isNow(true)),
    before: periodBefore(question) === null ? null : measuresOf(isNow(false)),
    extensionsLeftOut: Number(isNow(true).extensions ?? 0),
    ...summaryOfTime(question, wanted, earliest, latest, days),
    groups: perDimension((i) => lists[i]?.list ?? []),
    values: perDimension((i) => lists[i]?.count ?? 0),
    all: Number(extent?.n ?? 0),
    earliest,
    latest,
  };
}

/** Null and the empty string are both no value. */
function withoutEmpty(rows: readonly SqlRow[]): { list: PageGroup[]; count: number } {
  const list: PageGroup[] = rows.map(({ name, n, m }) => ({
    value: name === null || name === '' ? null : String(name),
    calls: Number(n),
    missed: Number(m),
  }));
  const count = Number(rows[0]?.groups ?? 0);
  const [first, second] = list.filter(({ value }) => value === null);
  if (first === undefined || second === undefined) return { list, count };
  const both = { value: null, calls: first.calls + second.calls, missed: first.missed + second.missed };
  const named = list.filter(({ value }) => value !== null);
  return { list: [...named, both].sort((a, b) => b.calls - a.calls), count: count - 1 };
}

async function rowsOf(warehouse: Warehouse, sql: string): Promise<SqlRow[]> {
  const rows: SqlRow[] = [];
  for await (const row of await warehouse.query(sql)) rows.push(row);
  return rows;
}

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value);
const timeText = (aggregate: string) => `strftime(${aggregate}(date_added), '%Y-%m-%d %H:%M:%S')`;
const timestamp = (millis: number) => `TIMESTAMP '${formatNaive(millis)}'`;
const minutes = (tenths: number) => (tenths / 10).toFixed(1);

/** A string without any of its characters in the statement. */
const literal = (text: string) => `decode(from_hex('${Buffer.from(text).toString('hex')}'))`;

function during(from: number | null, to: number | null): string {
  const bounds = [
    ...(from === null ? [] : [`date_added >= ${timestamp(from)}`]),
    ...(to === null ? [] : [`date_added < ${timestamp(to)}`]),
  ];
  return bounds.join(' AND ') || 'true';
}

function talkOf({ selection: { talk } }: PageQuestion): string {
  return talk === null ? 'true' : `talk_minutes BETWEEN ${minutes(talk.from)} AND ${minutes(talk.to)}`;
}

/** Whether a call has one of the values to keep of a field. */
function keeps(name: PageDimension, values: readonly (string | null)[]): string {
  const literals = values
    .filter((value) => value !== null && value !== '')
    .map((value) => literal(String(value)));
  const isIn = literals.length === 0 ? 'false' : `coalesce(${name} IN (${literals.join(', ')}), false)`;
  return literals.length < values.length ? `(${name} IS NULL OR ${name} = '' OR ${isIn})` : isIn;
}

function kept({ only }: PageQuestion): string {
  const parts = [...only].map(([name, values]) => keeps(name, values));
  return parts.join(' AND ') || 'true';
}

/** Measures of the period and of the one before, each in a row. */
function totalsSql(question: PageQuestion): string {
  const { from, to, selection } = question;
  const before = periodBefore(question);
  const counted = selection.extensions ? 'true' : 'NOT is_extension';
  const isNow = before === null || from === null ? 'true' : `date_added >= ${timestamp(from)}`;
  return `select ${isNow} as now, count(*) filter (${counted}) as calls, count(*) filter (${counted} AND missed) as missed,
      sum(talk_minutes) filter (${counted}) as talk, count(talk_minutes) filter (${counted}) as talked,
      count(*) filter (${counted} AND caller_type = 'first') as first, count(*) filter (NOT ${counted}) as extensions
    from calls where ${during(before?.from ?? from, to)} AND ${talkOf(question)} AND ${kept(question)} group by 1`;
}

function measuresOf(row: SqlRow): PageMeasures {
  const [calls, missed, talked, first] = ['calls', 'missed', 'talked', 'first'].map((name) =>
    Number(row[name] ?? 0),
  );
  const mean = talked === 0 || talked === undefined ? null : Number(row.talk ?? 0) / talked;
  return { calls: calls ?? 0, missed: missed ?? 0, talkMean: mean, firstTimeCallers: first ?? 0 };
}

/** Calls by each field and by day. The values to keep of a field do not apply to its own groups. */
function groupsSql(question: PageQuestion): string {
  const { from, to, selection, only } = question;
  const keys = pageDimensions.map((_, i) => `d${i}`);
  const narrowed = [...only].map(([name, values]) => ({
    at: pageDimensions.indexOf(name),
    sql: keeps(name, values),
  }));
  const keepsAll = (others: typeof narrowed) => others.map(({ at }) => `k${at}`).join(' AND ') || 'true';
  const sums = (condition: string, suffix: string) =>
    `count(*) filter (${condition}) AS n${suffix}, count(*) filter (${condition} AND missed) AS m${suffix}`;
  const all = [
    sums(keepsAll(narrowed), ''),
    ...narrowed.map((own) => sums(keepsAll(narrowed.filter((each) => each !== own)), String(own.at))),
  ];
  // Which of the sums counts for a group: that without the field's own values to keep, where it has some.
  const chosen = (sum: 'n' | 'm') =>
    narrowed.length === 0
      ? sum
      : `CASE ${narrowed.map(({ at }) => `WHEN kind = '${pageDimensions[at]}' THEN ${sum}${at}`).join(' ')} ELSE ${sum} END`;
  const kind = `CASE ${pageDimensions.map((name, i) => `WHEN grouping(d${i}) = 0 THEN '${name}'`).join(' ')} ELSE 'day' END`;
  const columns = [
    ...pageDimensions.map((name, i) => `${name} AS d${i}`),
    'date_added::DATE AS day, missed',
    ...narrowed.map(({ at, sql }) => `${sql} AS k${at}`),
  ];
  // A call that two fields keep out counts nowhere.
  const near =
    narrowed.length < 2
      ? 'true'
      : `${narrowed.map(({ at }) => `k${at}::INTEGER`).join(' + ')} >= ${narrowed.length - 1}`;
  return `with base as (select ${columns.join(', ')}
    from calls where ${during(from, to)} AND ${talkOf(question)} AND ${selection.extensions ? 'true' : 'NOT is_extension'}),
  sets as (select ${kind} AS kind, coalesce(${keys.join(', ')}, day::VARCHAR) AS name, ${all.join(', ')}
    from base where ${near} group by grouping sets (${[...keys, 'day'].map((key) => `(${key})`).join(', ')})),
  counted as (select kind, name, ${chosen('n')} AS n, ${chosen('m')} AS m from sets)
  select kind, name, n, m, count(*) over (partition by kind) AS groups from counted where n > 0
    qualify kind = 'day' OR row_number() over (partition by kind order by n desc, name) <= ${mostGroups}
    order by kind, n desc, name`;
}
