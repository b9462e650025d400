import { propertyOf } from '@call-attribution/core/errors';
import { fields } from '@call-attribution/core/record';
import { everything } from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl';
import { parsedFilter, selectionFor } from '../http/calls.ts';
import {
  type AppContext,
  type AppRoute,
  jsonReply,
  queryOf,
  streamReply,
  wholeReply,
} from '../http/context.ts';
import { integerOf, readParameters } from '../http/parameters.ts';
import { Refusal } from '../http/refusal.ts';
import type { PageSource } from './page-source.ts';
import { type PageCalls, type PageQuestion, pageDimensions } from './question.ts';

const selecting = ['q', 'only'] as const;
const mostRows = 500;
const mostValues = 200;
/** Lines of CSV that are sent together. */
const linesAtOnce = 500;
const names = fields.map(({ name }) => name);

/** Who may see the page. */
export interface PageGate {
  /** Lets a request for a file of the page through. */
  enter(c: AppContext): Promise<void>;
  /**
   * Lets a request for calls through, and returns the account whose calls they are. `wanted` is the
   * parameter `account`.
   */
  admit(c: AppContext, wanted: string | null): Promise<string>;
  /** Whether one password opens the calls of all accounts, and `account` chooses one. */
  readonly hasPassword: boolean;
}

/** The numbers and calls that the page shows, as JSON and CSV. */
export function pageDataRoutes(source: PageSource, gate: PageGate): AppRoute[] {
  const choice = gate.hasPassword ? ['account'] : [];

  const route = (path: string, allowed: readonly string[], answer: Responder): AppRoute => ({
    path,
    async handle(c) {
      const account = await gate.admit(c, new URLSearchParams(queryOf(c)).get('account'));
      const parameters = readParameters(queryOf(c), [...allowed, ...choice]);
      return answer({ c, source, account, parameters });
    },
  });

  return [
    route('/page/summary.json', [...selecting, 'by'], summary),
    route('/page/groups.csv', [...selecting, 'field'], groupsCsv),
    route('/page/calls.json', [...selecting, 'fields', 'rows', 'start', 'sid'], calls),
    route('/page/calls.csv', [...selecting, 'fields'], csv),
  ];
}

/** What is asked for, by whom. */
interface PageRequest {
  readonly c: AppContext;
  readonly source: PageSource;
  readonly account: string;
  readonly parameters: ReadonlyMap<string, string>;
}

type Responder = (asked: PageRequest) => Promise<Response>;

/** A client that has left, as for another question, ends the work for it. */
function leftSignal({ env, req }: AppContext): AbortSignal {
  const left = new AbortController();
  env.exchange.ends.push(() => left.abort());
  return AbortSignal.any([left.signal, req.raw.signal]);
}

async function summary({ c, source, account, parameters }: PageRequest): Promise<Response> {
  const question = readQuestion(parameters);
  const by = choiceOf(parameters, 'by', ['auto', 'day', 'week', 'month']);
  return jsonReply(c, JSON.stringify(await source.summary(account, question, by, leftSignal(c))));
}

/** All values of a field with their calls, for people. */
async function groupsCsv({ c, source, account, parameters }: PageRequest): Promise<Response> {
  const { csvLine } = await import('@call-attribution/node-stream/encoders');
  const field = choiceOf(parameters, 'field', pageDimensions);
  const groups = await source.groups(account, readQuestion(parameters), field, leftSignal(c));
  const lines = groups.map(({ value, calls, missed }) =>
    csvLine([value, calls, missed], { safe: true }),
  );
  return wholeReply(c, [csvLine([field, 'calls', 'missed']), ...lines].join(''), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${field}.csv"`,
  });
}

async function calls({ c, source, account, parameters }: PageRequest): Promise<Response> {
  const sid = parameters.get('sid');
  if (sid !== undefined) {
    const call = await source.call(account, sid);
    if (call === null)
      throw new Refusal('unknown_record', 'This account has no call with that sid.');
    return jsonReply(c, call);
  }

  const columns = fieldsOf(parameters);
  const limit = integerOf(parameters, 'rows', { least: 1, most: mostRows, otherwise: 25 });
  const most = Math.floor(Number.MAX_SAFE_INTEGER / limit);
  const offset = integerOf(parameters, 'start', { least: 0, most, otherwise: 0 }) * limit;
  const { total, calls: found } = await source.calls(account, readQuestion(parameters), {
    offset,
    limit,
  });
  const all: object[] = [];
  for await (const call of found)
    all.push(Object.fromEntries(columns.map((name) => [name, propertyOf(call, name) ?? null])));
  return jsonReply(c, JSON.stringify({ total, calls: all }));
}

async function csv({ c, source, account, parameters }: PageRequest): Promise<Response> {
  const columns = fieldsOf(parameters);
  const question = readQuestion(parameters);
  const limit = Number.MAX_SAFE_INTEGER;
  const page = await source.calls(account, question, { offset: 0, limit });
  return streamReply(c, csvLines(page, columns), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="calls.csv"',
  });
}

/** The file is for people: no cell of it is run as a formula. */
async function* csvLines({ calls }: PageCalls, columns: readonly string[]): AsyncGenerator<Buffer> {
  const { csvLine } = await import('@call-attribution/node-stream/encoders');
  let lines = [csvLine(columns)];
  for await (const call of calls) {
    const cells = columns.map((name) => propertyOf(call, name) ?? null);
    lines.push(csvLine(cells, { safe: true }));
    if (lines.length < linesAtOnce) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
  }

  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

function readQuestion(parameters: ReadonlyMap<string, string>): PageQuestion {
  const filter = parsedFilter(parameters, 'v3');
  const selection = selectionFor(filter, 'v3');
  const { period = everything } = selection;
  return { filter, selection, period, only: readOnly(parameters.get('only')) };
}

/** The values to keep of each field, such as `{"ppc_campaign":["Brand",null]}`. */
function readOnly(text = '{}'): PageQuestion['only'] {
  let content: unknown = null;
  try {
    content = JSON.parse(text);
  } catch {}

  // What is no object gets a name that no field has.
  const lists =
    typeof content === 'object' ? Object.entries(content ?? { '': null }) : [['', null] as const];
  return new Map(
    lists.map(([name, values]) => {
      const dimension = pageDimensions.find((each) => each === name);
      const isList = Array.isArray(values) && values.length > 0 && values.length <= mostValues;
      if (dimension !== undefined && isList && values.every(isValue)) return [dimension, values];
      throw new Refusal(
        'malformed_parameter',
        `The parameter only must be a JSON object such as {"ppc_campaign":["Brand",null]}, with 1 to ${mostValues} values of ${pageDimensions.join(', ')}.`,
        { parameter: 'only' },
      );
    }),
  );
}

/** A database with UTF-8 has no NUL and no half of a character. */
const isValue = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && value.isWellFormed() && !value.includes('\0'));

function fieldsOf(parameters: ReadonlyMap<string, string>): string[] {
  const text = parameters.get('fields');
  if (text === undefined) return names;
  const wanted = text.split(',');
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown === undefined) return wanted;
  const near = nearest(unknown.slice(0, 60), names);
  throw new Refusal(
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
    'malformed_parameter',
    `The parameter ${name} must be one of ${choices.join(', ')}.`,
    {
      parameter: name,
    },
  );
}
