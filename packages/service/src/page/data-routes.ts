import { propertyOf } from '@call-attribution/core/errors';
import { fields } from '@call-attribution/core/record';
import { everything } from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl';
import { type Answer, excludedSentence } from '@call-attribution/questions';
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
import { fromFiles, Refusal } from '../http/refusal.ts';
import type { PageFiles, PageReport, PageSetup } from '../options.ts';
import type { PageGate } from './gate.ts';
import { glanceOf } from './numbers.ts';
import type { PageSource } from './page-source.ts';
import { type PageCalls, type PageQuestion, pageDimensions } from './question.ts';
import { hiddenFrom, refuseGuess, type Sight, seenValue, setupFor } from './viewers.ts';

const selecting = ['q', 'only', 'definitions', 'exclude'] as const;
const mostRows = 500;
const mostValues = 200;
/** Lines of CSV that are sent together. */
const linesAtOnce = 500;
const names = fields.map(({ name }) => name);

/** The numbers and calls that the page shows, as JSON and CSV. */
export function pageDataRoutes(source: PageSource, gate: PageGate, setup: PageSetup): AppRoute[] {
  const choice = gate.hasPassword ? ['account'] : [];

  const route = (
    path: string,
    shows: AppRoute['shows'],
    allowed: readonly string[],
    answer: Responder,
  ): AppRoute => ({
    path,
    who: 'viewer',
    takesPlace: true,
    shows,
    async handle(c) {
      const wanted = new URLSearchParams(queryOf(c)).get('account');
      const { account, sight } = await gate.admit(c, wanted);
      const parameters = readParameters(queryOf(c), [...allowed, ...choice]);
      const seen = setupFor(sight, account, setup);
      return answer({ c, source, account: account.id, sight, setup, seen, parameters });
    },
  });

  return [
    route('/page/setup.json', 'setup', [], seenSetup),
    route('/page/report.json', 'counts', ['report'], report),
    route('/page/summary.json', 'counts', [...selecting, 'by'], summary),
    route('/page/groups.csv', 'counts', [...selecting, 'field'], groupsCsv),
    route('/page/calls.json', 'calls', [...selecting, 'fields', 'rows', 'start', 'sid'], calls),
    route('/page/calls.csv', 'calls', [...selecting, 'fields'], csv),
  ];
}

/** What is asked for, by whom. */
interface PageRequest {
  readonly c: AppContext;
  readonly source: PageSource;
  readonly account: string;
  /** How much of the calls is seen. */
  readonly sight: Sight;
  /** What the team has set up, and what of it is seen. */
  readonly setup: PageSetup;
  readonly seen: PageSetup;
  readonly parameters: ReadonlyMap<string, string>;
}

type Responder = (asked: PageRequest) => Promise<Response>;

/** A client that has left, as for another question, ends the work for it. */
function leftSignal({ env, req }: AppContext): AbortSignal {
  const left = new AbortController();
  env.exchange.ends.push(() => left.abort());
  return AbortSignal.any([left.signal, req.raw.signal]);
}

/** What somebody may choose: names only, since conditions hold numbers of people. */
async function seenSetup({ c, seen }: PageRequest): Promise<Response> {
  const { definitions, exclude, reports, annotations } = seen;
  return jsonReply(
    c,
    JSON.stringify({
      definitions: Object.keys(definitions),
      exclude,
      reports: reports.map(({ name, title }) => ({ name, title })),
      annotations: annotations.map(({ date, text }) => ({ date, text })),
    }),
  );
}

/** A report with a name. */
async function report({ c, source, account, sight, setup, seen, parameters }: PageRequest) {
  const wanted = parameters.get('report') ?? '';
  const found = seen.reports.find(({ name }) => name === wanted);
  if (found === undefined)
    throw new Refusal('malformed_parameter', 'There is no report of this name for this account.', {
      parameter: 'report',
    });

  const { definitions } = setup;
  const { columns, rows, leftOut, notes, ...answer } = await answerOf(found, account, (read) =>
    source.report(account, { ...found.question, ...read, definitions }, leftSignal(c)),
  );
  // A definition that somebody does not see has no name for them.
  const left = leftOut.map(({ code, count, message }) =>
    code === 'excluded' && seen.exclude === null ? excludedSentence(null, count) : message,
  );

  // Changes per day have no column here.
  const said = [...left, ...notes.flatMap((note) => (note.code === 'per_day' ? [] : note.message))];
  const shown = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, seenValue(sight, name, value)]),
    ),
  );
  const { period, compared, total } = answer;
  const { title } = found;
  return jsonReply(
    c,
    JSON.stringify({ title, columns, rows: shown, total, period, compared, notes: said }),
  );
}

/** The answer of a report, with what its files say now. */
async function answerOf(
  { files }: PageReport,
  account: string,
  ask: (read: PageFiles) => Promise<Answer>,
): Promise<Answer> {
  if (files === null) return ask({});
  return fromFiles(async () => ask(await files(account)));
}

async function summary(request: PageRequest): Promise<Response> {
  const { c, source, account, sight, parameters } = request;
  const question = readQuestion(request);
  const by = choiceOf(parameters, 'by', ['auto', 'day', 'week', 'month']);
  const { cause, ...numbers } = await source.summary(account, question, by, leftSignal(c));
  const seen = cause && { ...cause, value: seenValue(sight, cause.field, cause.value) };
  const glance = glanceOf({ ...numbers, cause: seen });
  const groups = pageDimensions.map((field) => [
    field,
    numbers.groups[field].map((group) => ({
      ...group,
      value: seenValue(sight, field, group.value),
    })),
  ]);
  return jsonReply(c, JSON.stringify({ ...numbers, glance, groups: Object.fromEntries(groups) }));
}

/** All values of a field with their calls, for people. */
async function groupsCsv(request: PageRequest): Promise<Response> {
  const { c, source, account, sight, parameters } = request;
  const { csvLine } = await import('@call-attribution/node-stream/encoders');
  const field = choiceOf(parameters, 'field', pageDimensions);
  const question = readQuestion(request);
  const groups = await source.groups(account, question, field, leftSignal(c));
  const lines = groups.map(({ value, calls, missed }) =>
    csvLine([seenValue(sight, field, value), calls, missed], { safe: true }),
  );
  return wholeReply(c, [csvLine([field, 'calls', 'missed']), ...lines].join(''), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${field}.csv"`,
  });
}

async function calls(request: PageRequest): Promise<Response> {
  const { c, source, account, sight, parameters } = request;
  const sid = parameters.get('sid');
  if (sid !== undefined) {
    const call = await source.call(account, sid);
    if (call === null)
      throw new Refusal('unknown_record', 'This account has no call with that sid.');
    if (sight.personal) return jsonReply(c, call);
    return jsonReply(c, JSON.stringify(seenCall(sight, JSON.parse(call.toString()))));
  }

  const columns = fieldsOf(parameters, sight);
  const limit = integerOf(parameters, 'rows', { least: 1, most: mostRows, otherwise: 25 });
  const most = Math.floor(Number.MAX_SAFE_INTEGER / limit);
  const offset = integerOf(parameters, 'start', { least: 0, most, otherwise: 0 }) * limit;
  const question = readQuestion(request);
  const { total, calls: found } = await source.calls(account, question, { offset, limit });
  const all: object[] = [];
  for await (const call of found)
    all.push(Object.fromEntries(columns.map((name) => [name, seenIn(call, name, sight)])));
  return jsonReply(c, JSON.stringify({ total, calls: all }));
}

/** The fields that somebody sees. */
function shownTo(sight: Sight): string[] {
  const hidden = hiddenFrom(sight);
  return names.filter((name) => !hidden.includes(name));
}

/** One call as a viewer sees it: only fields that are known, and not hidden. */
function seenCall(sight: Sight, call: object): object {
  const shown = shownTo(sight);
  const seen = Object.keys(call).filter((name) => shown.includes(name));
  return Object.fromEntries(seen.map((name) => [name, seenIn(call, name, sight)]));
}

const seenIn = (call: object, name: string, sight: Sight): unknown =>
  seenValue(sight, name, propertyOf(call, name) ?? null);

async function csv(request: PageRequest): Promise<Response> {
  const { c, source, account, sight, parameters } = request;
  const columns = fieldsOf(parameters, sight);
  const question = readQuestion(request);
  const limit = Number.MAX_SAFE_INTEGER;
  const page = await source.calls(account, question, { offset: 0, limit });
  return streamReply(c, csvLines(page, columns, sight), {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="calls.csv"',
  });
}

/** The file is for people: no cell of it is run as a formula. */
async function* csvLines(
  { calls }: PageCalls,
  columns: readonly string[],
  sight: Sight,
): AsyncGenerator<Buffer> {
  const { csvLine } = await import('@call-attribution/node-stream/encoders');
  let lines = [csvLine(columns)];
  for await (const call of calls) {
    const cells = columns.map((name) => seenIn(call, name, sight));
    lines.push(csvLine(cells, { safe: true }));
    if (lines.length < linesAtOnce) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
  }

  if (lines.length > 0) yield Buffer.from(lines.join(''));
}

function readQuestion({ parameters, sight, setup, seen }: PageRequest): PageQuestion {
  const filter = parsedFilter(parameters, 'v3');
  const selection = selectionFor(filter, 'v3');
  const { period = everything } = selection;
  const only = readOnly(parameters.get('only'));
  refuseGuess(sight, only);

  const known = Object.keys(seen.definitions);
  const chosen = (parameters.get('definitions') ?? '').split(',').filter((name) => name !== '');
  if (chosen.some((name) => !known.includes(name)))
    throw new Refusal(
      'malformed_parameter',
      `The parameter definitions names something that is no definition.${known.length === 0 ? '' : ` There are ${known.join(', ')}.`}`,
      { parameter: 'definitions' },
    );

  const isExcluding = choiceOf(parameters, 'exclude', ['yes', 'no']) === 'yes';
  if (!isExcluding && seen.exclude === null)
    throw new Refusal('malformed_parameter', 'There is no exclusion that you may leave out.', {
      parameter: 'exclude',
    });
  const exclude = isExcluding ? setup.exclude : null;
  const switches = known.filter((name) => name !== exclude);
  const { definitions } = setup;
  return { filter, selection, period, only, definitions, chosen, switches, exclude };
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

function fieldsOf(parameters: ReadonlyMap<string, string>, sight: Sight): string[] {
  const text = parameters.get('fields');
  if (text === undefined) return shownTo(sight);
  const wanted = text.split(',');
  const unseen = wanted.find((name) => hiddenFrom(sight).includes(name));
  if (unseen !== undefined)
    throw new Refusal('unknown_field', `You do not see the field ${unseen}.`, {
      parameter: 'fields',
    });
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
