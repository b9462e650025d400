import type { FieldSpec } from '@call-attribution/core';
import { scrub } from '@call-attribution/core/record';
import { findProblem } from '@call-attribution/core/settings';
import { formatNaive } from '@call-attribution/core/time';
import { nearest } from '@call-attribution/query-dsl';
import {
  type CallSelection,
  type Condition,
  checkZone,
  parseCondition,
  periodNotes,
  planCalls,
  quote,
  readPeriod,
  splitList,
} from '@call-attribution/questions';
import * as z from 'zod';
import { findField } from '../fields.ts';
import { parseJson } from '../messages.ts';
import { agentsSee, isPseudonym, neededAsTheyAre, type Reveal, seesText } from '../privacy/mask.ts';
import { quotable } from '../privacy/text.ts';
import { didYouMean, invalid, invalidWhere } from '../text/failures.ts';
import type { Scope } from '../text/words.ts';
import { annotationNotes } from './annotations.ts';
import type { ToolContext } from './tool.ts';

/**
 * Reads the arguments of a call against the input schema of its tool. Hosts differ in how they send
 * values, so lists may also be JSON strings or comma-separated strings, and numbers and booleans
 * may be strings. Unknown names are refused.
 */
export function readArguments(
  tool: string,
  input: z.ZodObject,
  given: unknown,
): Record<string, unknown> {
  const raw = typeof given === 'string' ? parseJson(given) : (given ?? {});
  const accepted = Object.keys(input.shape);
  const taken =
    accepted.length === 0
      ? `${tool} takes no arguments.`
      : `${tool} takes: ${accepted.join(', ')}.`;
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw invalid('not_an_object', 'The arguments must be one JSON object.', taken);
  const values: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(raw)) {
    // Some hosts send null, false or an empty string for everything that was left out, unknown
    // names too.
    if (value === null || value === undefined || value === '') continue;
    const type = Object.hasOwn(input.shape, name) ? innerType(input.shape[name]) : null;
    if (value === false && !(type instanceof z.ZodBoolean)) continue;
    if (type === null) {
      const meant = nearest(name, accepted);
      const why = `There is no argument "${quotable(name)}".${didYouMean(meant)}`;
      throw invalid('unknown_argument', why, taken);
    }
    values[name] = lenient(type, value);
  }

  const read = findProblem<Record<string, unknown>>(input, values);
  if ('data' in read) return read.data;

  // A schema of a custom tool may have whole sentences of its own.
  const { path, what, hint = '' } = read.problem;
  const colon = /^[a-z]/.test(what) ? '' : ':';
  const place = path === '' ? '' : `"${path}"${colon} `;
  const more = ` ${hint.charAt(0).toUpperCase()}${hint.slice(1)}`.trimEnd();
  const sentence = `${place}${quotable(what, 400).replace(/\.$/, '')}.${more}`;
  throw invalid('invalid_argument', sentence, taken);
}

/** The type inside optional and default wrappers. */
function innerType(field: unknown): unknown {
  let type = field;
  while (type instanceof z.ZodOptional || type instanceof z.ZodDefault) type = type.unwrap();
  return type;
}

/** Converts a value to the type that the schema expects, where that is unambiguous. */
function lenient(type: unknown, value: unknown): unknown {
  if (typeof value === 'number' && type instanceof z.ZodString) return String(value);
  if (typeof value === 'object' && type instanceof z.ZodString) return JSON.stringify(value);
  if (typeof value !== 'string') return value;
  if (type instanceof z.ZodArray) {
    const parsed = value.trim().startsWith('[') ? parseJson(value) : null;
    if (Array.isArray(parsed)) return parsed;
    const parts = splitList(value).map((part) => part.trim());
    return parts.filter((part) => part !== '');
  }

  if (type instanceof z.ZodNumber && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value)) return Number(value);
  if (type instanceof z.ZodBoolean && /^(?:true|false)$/i.test(value))
    return value.toLowerCase() === 'true';
  return value;
}

/** Arguments that choose calls. */
export const selectionShape = {
  period: z.string().max(80).describe('last month, last 28 days, 2026-Q3, 2026-10'),
  from: z.string().max(40).describe('Or YYYY-MM-DD[ HH:MM:SS], today, 28d (28 days ago)'),
  to: z.string().max(40).describe('Day included, time excluded'),
  calls: z.enum(['website', 'extensions', 'all']).describe('Default website: no call extensions'),
  where: z.string().max(4000).describe('SQL-like condition on any field'),
  time_zone: z.string().max(60).describe('IANA name, default the zone of the account'),
};

/** The argument of tools that count, where the operator excludes calls. */
export const noExcludeShape = (exclude: string) => ({
  no_exclude: z.boolean().optional().describe(`Calls of ${exclude} count too`),
});

type SelectionContext = Pick<
  ToolContext,
  'version' | 'fields' | 'reveal' | 'timeZone' | 'clock' | 'words' | 'annotations' | 'source'
>;

/** A selection, and what to say about it. */
export interface Chosen {
  readonly selection: CallSelection;
  /** What belongs to a cursor: everything that decides which calls there are. */
  readonly text: string;
  readonly scope: Scope;
  readonly notes: readonly string[];
}

/**
 * Makes the selection of a call. Throws an error that says what is wrong and the nearest right
 * thing.
 */
export function choose(
  args: Partial<
    Record<keyof typeof selectionShape | 'caller' | 'compare' | 'q', string | undefined>
  >,
  context: SelectionContext,
): Chosen {
  const { calls, where, time_zone: inZone, caller, q } = args;
  const { version, timeZone, words } = context;
  if (inZone !== undefined) checkZone('time_zone', inZone);
  const clock = { now: context.clock.now(), timeZone: inZone ?? timeZone };
  const asked = readPeriod({ period: args.period, from: args.from, to: args.to }, clock);
  const from = asked.from === null ? null : formatNaive(asked.from);
  const to = asked.to === null ? null : formatNaive(asked.to);
  const kind = (calls ?? (version === 'v2' ? 'all' : 'website')) as Scope['kind'];
  const conditions = [
    // Values may be written as answers show them.
    ...(where === undefined ? [] : [where.replace(/[«»]/g, '')]),
    ...(caller === undefined ? [] : [`ani == ${quote(caller.trim())}`]),
  ];
  const said = conditions.flatMap((text) => refusePersonal(readWhere(text, words), context));
  const selection: CallSelection = {
    from: from ?? undefined,
    to: to ?? undefined,
    calls: kind,
    timeZone,
    where: conditions.map((text) => `(${text})`).join(' AND ') || undefined,
    inZone: inZone === timeZone ? undefined : inZone,
    q,
    definitions: words.definitions,
    exclude: words.exclude,
  };
  if (version === 'v2') planCalls(selection, { now: clock.now, version });
  return {
    selection,
    text: JSON.stringify(
      [from, to, kind, where, caller, inZone].concat(words.exclude ?? [], q ?? []),
    ),
    scope: { from, to, kind, version, isNarrowed: conditions.length > 0 || q !== undefined },
    notes: [
      ...new Set(said),
      // Of a period that is compared, the answer says which part it is.
      ...periodNotes(asked, clock)
        .filter(({ code }) => code !== 'unfinished' || args.compare === undefined)
        .map(({ message }) => message),
      ...(from === null && to === null ? [] : annotationNotes({ from, to }, context)),
      ...(version === 'v2' && kind === 'all'
        ? ['v2 of the API always counts calls through call extensions.']
        : []),
    ],
  };
}

function readWhere(text: string, { definitions }: ToolContext['words']): Condition {
  const result = parseCondition(text, definitions);
  if (result.ok) return result.condition;
  throw invalidWhere('where', result.problem);
}

/**
 * Says that what is hidden cannot be searched for: such a condition would never hold, and that
 * would look like an answer. Gives the note on addresses where a condition compares them.
 */
export function refusePersonal(
  condition: Condition,
  context: Pick<SelectionContext, 'fields' | 'reveal'>,
): readonly string[] {
  if ('parts' in condition) return condition.parts.flatMap((part) => refusePersonal(part, context));
  if (condition.kind === 'not') return refusePersonal(condition.part, context);
  if (!isComparison(condition)) return [];
  const { field } = condition;
  const spec = findField(context.fields, field);
  const see = spec === undefined ? 'shown' : agentsSee(spec, context.reveal);
  const texts = textsOf(condition);
  const isNeeded =
    seesText(context.reveal) || neededAsTheyAre.has(spec?.name ?? '') || spec?.isId === true;
  // The wildcards of LIKE would hide what stands between them.
  const looksPersonal = (text: string): boolean =>
    [text, text.replace(/[%_]/g, ' ')].some((each) => scrub(each) !== each);
  let isRefused = true;
  if (see === 'pseudonym') isRefused = condition.kind === 'like' || !texts.every(isPseudonym);
  else if (see === 'shown') isRefused = !isNeeded && texts.some(looksPersonal);
  if (!isRefused) return addressNotes(spec, context.reveal);

  const next = {
    hidden: `Ask ${field} IS NULL or ${field} IS NOT NULL; --reveal of this server shows its values.`,
    pseudonym: `Compare it with a pseudonym of another answer, such as ${field} = 'phone-000000000000'.`,
    shown: 'Numbers, e-mail and IP addresses in its values are not there to be found.',
  };
  const why = `${field} cannot be compared with that: personal data is hidden.`;
  throw invalid('hidden_field', why, next[see]);
}

const addressNotes = (
  spec: FieldSpec | undefined,
  reveal: ReadonlySet<Reveal>,
): readonly string[] =>
  spec?.type === 'url' && !seesText(reveal)
    ? [
        `${spec.name}: addresses of pages are here without parts that may be personal, which are not found and not counted.`,
      ]
    : [];

/**
 * Refuses to count the different values of a field that is hidden, as all of them would count as
 * one; gives the note on addresses. `texts`: where such a measure may stand.
 */
export function refuseDistinct(
  texts: string,
  { fields, reveal }: Pick<SelectionContext, 'fields' | 'reveal'>,
): readonly string[] {
  return [...texts.matchAll(/\bdistinct\s*\(([^()]*)\)/gi)].flatMap(([, name = '']) => {
    const spec = findField(fields, name);
    if (spec === undefined || agentsSee(spec, reveal) !== 'hidden')
      return addressNotes(spec, reveal);
    throw invalid(
      'hidden_field',
      `${spec.name} is hidden, so nobody can say how many different values there are.`,
      `Ask without(${spec.name}), the calls without a value.`,
    );
  });
}

type Comparison = Extract<Condition, { kind: 'compare' | 'in' | 'like' }>;

/**
 * Does a condition compare values of a masked call? What a definition compares was judged before, and
 * nobody learns of it but whether it is true.
 */
const isComparison = (condition: Condition): condition is Comparison =>
  ['compare', 'in', 'like'].includes(condition.kind);

function textsOf(test: Comparison): readonly string[] {
  if (test.kind === 'like') return [test.pattern];
  const values = test.kind === 'in' ? test.values : [test.value];
  return values.map((value) => ('text' in value ? value.text : ''));
}
