import { type Call, column, literal, type Sql } from './tree.ts';

// Every function of DuckDB that questions use.

const call = (name: string, ...args: readonly Sql[]): Call => ({ kind: 'call', name, args });
const one =
  (name: string) =>
  (of: Sql): Call =>
    call(name, of);
const several =
  (name: string) =>
  (...of: readonly Sql[]): Call =>
    call(name, ...of);

/** The functions. */
export const fn = {
  // Times.
  epochMs: one('epoch_ms'),
  epochUs: one('epoch_us'),
  year: one('year'),
  month: one('month'),
  /** 1 for Monday. */
  isodow: one('isodow'),
  hour: one('hour'),
  dateTrunc: (unit: 'week' | 'month', time: Sql): Call => call('date_trunc', literal(unit), time),
  toDays: (days: number): Call => call('to_days', literal(days)),
  toMilliseconds: one('to_milliseconds'),

  // Texts and lists.
  lower: one('lower'),
  length: one('length'),
  chr: (code: number): Call => call('chr', literal(code)),
  concatWs: several('concat_ws'),
  /** `text LIKE pattern ESCAPE '\'`. */
  like: (text: Sql, pattern: Sql): Call => call('like_escape', text, pattern, literal('\\')),
  regexpFullMatch: (text: Sql, expression: string): Call =>
    call('regexp_full_match', text, literal(expression)),
  /** What the first parentheses of an expression match, as a list. */
  regexpExtractAll: (text: Sql, expression: string): Call =>
    call('regexp_extract_all', text, literal(expression), literal(1)),
  urlDecode: one('url_decode'),
  listTransform: (list: Sql, name: string, body: (item: Sql) => Sql): Call =>
    call('list_transform', list, { kind: 'lambda', name, body: body(column(name)) }),
  listFilter: (list: Sql, name: string, body: (item: Sql) => Sql): Call =>
    call('list_filter', list, { kind: 'lambda', name, body: body(column(name)) }),
  /** An item of a list, from 1. */
  listExtract: (list: Sql, at: number): Call => call('list_extract', list, literal(at)),
  coalesce: several('coalesce'),
  row: several('row'),
  jsonArray: several('json_array'),

  // Aggregates.
  count: (of: Sql = column('*')): Call => call('count', of),
  /** The same as a count with a filter, and faster. */
  countIf: one('count_if'),
  /** Of a row of grouping sets: which of these columns it is not grouped by. */
  groupingId: several('grouping_id'),
  countDistinct: (of: Sql): Call => ({ ...call('count', of), distinct: true }),
  sum: one('sum'),
  min: one('min'),
  max: one('max'),
  quantileDisc: (of: Sql, at: number): Call => call('quantile_disc', of, literal(at)),
  /** Several quantiles, as a list: the values are sorted once. */
  quantilesDisc: (of: Sql, ...at: readonly number[]): Call =>
    call('quantile_disc', of, call('list_value', ...at.map(literal))),
  /** A bit for each number from 0 to `last` that occurs. */
  bitstringAgg: (of: Sql, last: number): Call => call('bitstring_agg', of, literal(0), literal(last)),
  bitCount: one('bit_count'),
  getBit: (bits: Sql, at: Sql): Call => call('get_bit', bits, at),

  // Functions of a window.
  rowNumber: (): Call => call('row_number'),
  lag: one('lag'),
  lead: one('lead'),
  firstValue: one('first_value'),
  lastValue: one('last_value'),
};

/** An aggregate over some of the rows. */
export const filtered = (aggregate: Call, filter: Sql): Call => ({ ...aggregate, filter });

/** A function over a window with a name, or over all rows. */
export const over = (of: Call, window = ''): Call => ({ ...of, over: window });
