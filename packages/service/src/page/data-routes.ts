import { type Call, fields, fromCall } from '@call-attribution/core';
import { csvLine } from '@call-attribution/node-stream/encoders';
import { nearest } from '@call-attribution/query-dsl';
import { parsedFilter, selectionFor } from '../http/calls.ts';
import { readCredential } from '../http/credentials.ts';
import type { Exchange, Reply, Route } from '../http/exchange.ts';
import type { Gate } from '../http/gate.ts';
import { integerOf, readParameters } from '../http/parameters.ts';
import { Refusal } from '../http/refusal.ts';
import {
  type PageCalls,
  type PageQuestion,
  type PageReading,
  type PageSource,
  pageDimensions,
} from './question.ts';

const json = { 'content-type': 'application/json' };
const selecting = ['version', 'q', 'only'] as const;
const mostRows = 500;
const mostValues = 200;
const names = fields.map(({ name }) => name);

/** The numbers and calls that the page shows, as JSON and CSV, for the same credentials as the API. */
export function pageDataRoutes(source: PageSource, gate: Gate): Route[] {
  const route = (path: string, allowed: readonly string[], answer: Responder): Route => ({
    path,
    handle: (exchange) => open(exchange, source, gate, allowed, answer),
  });
  return [
    route('/page/summary.json', [...selecting, 'by'], summary),
    route('/page/calls.json', [...selecting, 'fields', 'rows', 'start', 'sid'], calls),
    route('/page/calls.csv', [...selecting, 'fields'], csv),
  ];
}

/** What is asked for, by whom. */
interface Asked {
  readonly exchange: Exchange;
  readonly source: PageSource;
  readonly account: string;
  readonly parameters: ReadonlyMap<string, string>;
}

type Responder = (asked: Asked) => Promise<Reply>;

/** Accepts the credentials and reads what is asked for; while the calls are still being read, says how far that is. */
async function open(
  exchange: Exchange,
  source: PageSource,
  gate: Gate,
  allowed: readonly string[],
  answer: Responder,
): Promise<Reply> {
  const { account, headers } = await exchange.turn(() => gate(readCredential(exchange.request, 'v3')));
  exchange.account = account;
  const parameters = readParameters(exchange.query, allowed);
  const reading = await source.ready(account);
  const { status, body, ...rest } =
    reading === null ? await answer({ exchange, source, account, parameters }) : stillReading(reading);
  return { ...rest, status, body, headers: { ...rest.headers, ...headers } };
}

async function summary({ exchange, source, account, parameters }: Asked): Promise<Reply> {
  const question = readQuestion(parameters);
  const by = choiceOf(parameters, 'by', ['auto', 'day', 'week', 'month']);
  const found = await exchange.turn(() => source.summary(account, question, by));
  return jsonReply(found);
}

async function calls({ exchange, source, account, parameters }: Asked): Promise<Reply> {
  const sid = parameters.get('sid');
  const version = versionOf(parameters);
  if (sid !== undefined) {
    const call = await exchange.turn(() => source.call(account, sid));
    if (call === null) throw new Refusal(404, 'unknown_record', 'This account has no call with that sid.');
    return jsonReply(version === 'v3' ? call : fromCall(call as Call, 'v2'));
  }
  const columns = fieldsOf(parameters);
  const limit = integerOf(parameters, 'rows', { least: 1, most: mostRows, otherwise: 25 });
  const most = Math.floor(Number.MAX_SAFE_INTEGER / limit);
  const offset = integerOf(parameters, 'start', { least: 0, most, otherwise: 0 }) * limit;
  const cut = { fields: columns, offset, limit };
  const question = readQuestion(parameters);
  const page = await exchange.turn(async () => {
    const { total, rows } = await source.calls(account, question, cut);
    const all: object[] = [];
    for await (const some of rows)
      for (const values of some)
        all.push(Object.fromEntries(columns.map((name, i) => [name, values[i] ?? null])));
    return { total, calls: all };
  });
  return jsonReply(page);
}

async function csv({ exchange, source, account, parameters }: Asked): Promise<Reply> {
  const columns = fieldsOf(parameters);
  const question = readQuestion(parameters);
  const limit = Number.MAX_SAFE_INTEGER;
  const page = await exchange.turn(() =>
    source.calls(account, question, { fields: columns, offset: 0, limit }),
  );
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="calls.csv"',
  };
  return { status: 200, headers, body: csvLines(page, columns, exchange) };
}

const jsonReply = (value: unknown): Reply => ({
  status: 200,
  headers: { ...json },
  body: JSON.stringify(value),
});

function stillReading(reading: PageReading): Reply {
  return { status: 202, headers: { ...json, 'retry-after': '1' }, body: JSON.stringify(reading) };
}

/** Each part is made when it is the turn of its client. The file is for people: no cell of it is run as a formula. */
async function* csvLines(
  { rows }: PageCalls,
  columns: readonly string[],
  { turn }: Exchange,
): AsyncGenerator<Buffer> {
  yield Buffer.from(csvLine(columns));
  const parts = rows[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await turn(() => parts.next());
      if (done) return;
      if (value.length > 0)
        yield Buffer.from(value.map((cells: readonly unknown[]) => csvLine(cells, { safe: true })).join(''));
    }
  } finally {
    await parts.return?.();
  }
}

function versionOf(parameters: ReadonlyMap<string, string>): 'v2' | 'v3' {
  return choiceOf(parameters, 'version', ['v3', 'v2']);
}

function readQuestion(parameters: ReadonlyMap<string, string>): PageQuestion {
  const version = versionOf(parameters);
  const filter = parsedFilter(parameters, version);
  const selection = selectionFor(filter, version);
  const dated = filter.clauses.flatMap((clause) =>
    clause.kind === 'range' && clause.field === 'date_added' ? [clause] : [],
  );
  const from = dated.some(({ lower }) => lower !== null) ? selection.from * 1000 : null;
  const to = dated.some(({ upper }) => upper !== null) ? selection.to * 1000 : null;
  return { version, filter, selection, from, to, only: readOnly(parameters.get('only')) };
}

const onlyExample = 'only={"ppc_campaign":["Brand",null]}';

function readOnly(text: string | undefined): PageQuestion['only'] {
  if (text === undefined) return new Map();
  const wrong = (what: string) =>
    new Refusal(
      400,
      'malformed_parameter',
      `The parameter only ${what}: expected a JSON object of lists of strings or null, such as ${onlyExample}.`,
      { parameter: 'only' },
    );
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw wrong('is not JSON');
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw wrong('is not an object');
  return new Map(
    Object.entries(content).map(([name, values]) => {
      const dimension = pageDimensions.find((each) => each === name);
      if (dimension === undefined) throw wrong(`has a name that is not one of ${pageDimensions.join(', ')}`);
      if (!Array.isArray(values) || values.length > mostValues || !values.every(isValue))
        throw wrong(`has something other than a list of up to ${mostValues} strings`);
      return [dimension, values];
    }),
  );
}

const isValue = (value: unknown): value is string | null => value === null || typeof value === 'string';

function fieldsOf(parameters: ReadonlyMap<string, string>): string[] {
  const text = parameters.get('fields');
  if (text === undefined) return names;
  const wanted = text.split(',');
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown === undefined) return wanted;
  const near = nearest(unknown.slice(0, 60), names);
  throw new Refusal(
    400,
    'unknown_field',
    `The parameter fields names something that is not a field.${near === undefined ? ' The fields are in openapi.json.' : ` Did you mean ${near}?`}`,
    { parameter: 'fields' },
  );
}

/** The value of a parameter with a few possible values; the first one is the default. */
function choiceOf<Choice extends string>(
  parameters: ReadonlyMap<string, string>,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const value = parameters.get(name) ?? choices[0];
  const choice = choices.find((each) => each === value);
  if (choice !== undefined) return choice;
  throw new Refusal(
    400,
    'malformed_parameter',
    `The parameter ${name} must be one of ${choices.join(', ')}.`,
    {
      parameter: name,
    },
  );
}
