import { nearest } from '@call-attribution/query-dsl/nearest';
import type { ErrorWords } from '../errors/calls-error.ts';
import { propertyOf } from '../errors/checked-reads.ts';
import { ConfigurationError } from '../errors/classes.ts';
import { notJsonText } from './json-error.ts';

// What people write in files and tool calls is described by schemas of zod 4, in the packages that
// read it. This turns what a schema finds into sentences. It takes the findings as they are, so
// that this package does not need zod.

/** Something that a schema found, as zod 4 says it. What is there depends on the code. */
type Issue = {
  readonly path: readonly PropertyKey[];
  /** The words of the schema, such as `must be a duration`; empty when it has none. */
  readonly message: string;
} & Partial<{
  readonly code: string;
  readonly input: unknown;
  /** The type that was expected, or the values. */
  readonly expected: string;
  readonly values: readonly unknown[];
  /** The names that are unknown. */
  readonly keys: readonly string[];
  /** Limits of a number, or of the length of a string or an array, which `origin` tells. */
  readonly minimum: unknown;
  readonly maximum: unknown;
  readonly inclusive: boolean;
  readonly origin: string;
  /** What was found for each alternative. */
  readonly errors: readonly (readonly Issue[])[];
  /** The name whose value chooses the alternative, when it chooses none, and the values that do. */
  readonly discriminator: string;
  readonly options: readonly unknown[];
  /** Of a check of the schema's own: `hint` says what to do. */
  readonly params: { readonly hint?: unknown };
}>;

/**
 * A schema, as `z.object(...)` of zod 4 makes it. Its own words complete the sentence `<place>
 * ...`, such as `must be a path`.
 */
export interface InputSchema<T> {
  /** Checks a value. */
  safeParse(
    value: unknown,
    how: {
      readonly reportInput: true;
      error(issue: {
        readonly code?: string;
        readonly input?: unknown;
        readonly inst?: unknown;
      }): string;
    },
  ):
    | { readonly success: true; readonly data: T }
    | { readonly success: false; readonly error: { readonly issues: readonly object[] } };
}

/**
 * The first problem of a value. It quotes numbers and what was nearly right, and no other string:
 * one may be a secret.
 */
export interface InputProblem {
  /** The place, such as `feeds[0].window`; empty for the whole value. */
  readonly path: string;
  /** What is wrong, to be read after the place: `must be a number, not a list`. */
  readonly what: string;
  /** What to write instead. */
  readonly hint?: string | undefined;
}

/**
 * Checks a value against a schema: the value as the schema reads it, or its first problem. Unknown
 * names come first.
 */
export function findProblem<T>(
  schema: InputSchema<T>,
  value: unknown,
): { readonly data: T } | { readonly problem: InputProblem } {
  const known = new Map<unknown, readonly string[]>();
  const result = schema.safeParse(value, {
    reportInput: true,
    error({ code, input, inst }) {
      if (code === 'unrecognized_keys')
        known.set(input, Object.keys(Object(propertyOf(inst, 'shape'))));
      return '';
    },
  });
  if (result.success) return { data: result.data };
  const issues = (result.error.issues as readonly Issue[]).map(innermost);
  const issue = foremost(issues) ?? { path: [], message: '' };
  const [what, hint] = wordsOf(issue, known.get(issue.input) ?? []);
  return { problem: { path: pathText(issue.path), what, hint } };
}

/**
 * Checks a value that a person wrote.
 *
 * @param source what messages call it, such as the name of its file.
 * @param errorOf makes the error that is thrown. Default: a `ConfigurationError`.
 * @example
 * const rules = readInput(z.strictObject({ otherwise: z.number() }), json, 'rules.json');
 * // ConfigurationError: rules.json: otherwise must be a number, not a list
 */
export function readInput<T>(
  schema: InputSchema<T>,
  value: unknown,
  source: string,
  errorOf: (words: ErrorWords) => Error = refused,
): T {
  const result = findProblem(schema, value);
  if ('data' in result) return result.data;
  const { path, what, hint } = result.problem;
  throw errorOf({ message: `${source}${path === '' ? '' : `: ${path}`} ${what}`, hint });
}

/**
 * The same for a string of JSON. What is not JSON is refused with its line and column, and without
 * what is there.
 */
export function readJsonInput<T>(
  schema: InputSchema<T>,
  text: string,
  source: string,
  errorOf: (words: ErrorWords) => Error = refused,
): T {
  const bare = text.replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(bare);
  } catch {
    throw errorOf({ message: notJsonText(bare, source) });
  }

  return readInput(schema, value, source, errorOf);
}

const refused = (words: ErrorWords): Error => new ConfigurationError('invalid_option', words);

const isUnknownName = ({ code }: Issue): boolean => code === 'unrecognized_keys';

const foremost = (issues: readonly Issue[]): Issue | undefined =>
  issues.find(isUnknownName) ?? issues[0];

/** Of alternatives, the one that the value was meant to be: its problem lies inside. */
function innermost(issue: Issue): Issue {
  const { discriminator, options = [], input, errors = [] } = issue;
  if (discriminator !== undefined && options.length > 0 && typeof input === 'object')
    return {
      ...issue,
      code: 'invalid_value',
      values: options,
      input: propertyOf(input, discriminator),
    };

  for (const issues of errors) {
    const inside = foremost(issues);
    if (inside !== undefined && (inside.path.length > 0 || isUnknownName(inside)))
      return innermost({ ...inside, path: [...issue.path, ...inside.path] });
  }

  return issue;
}

/** A path as it would be written in JavaScript. A name that is not one is not shown. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    const name = isShown(String(part)) ? String(part) : '…';
    return text === '' ? name : `${text}.${name}`;
  }, '');
}

/** A name that nobody takes for a key or a token, nor for data of a caller. */
const isShown = (name: string): boolean =>
  /^[a-z_$][\w$ .-]{0,39}$/i.test(name) && !/\d\D*\d\D*\d\D*\d/.test(name);

function wordsOf(issue: Issue, known: readonly string[]): [what: string, hint?: string] {
  const { code, input, message, values } = issue;
  if (code === 'unrecognized_keys') return unknownName(issue.keys?.[0] ?? '', known);
  const isWrongType =
    code === 'invalid_type' || code === 'invalid_union' || code === 'invalid_value';
  const what = message === '' ? expectation(issue) : message;
  if (input === undefined && isWrongType)
    return [message === '' && code === 'invalid_type' ? 'is missing' : `is missing; it ${what}`];
  if (typeof issue.params?.hint === 'string') return [what, issue.params.hint];
  if (!what.startsWith('must be ')) return [what];
  const choices = values?.filter((value) => typeof value === 'string') ?? [];
  const near = typeof input === 'string' ? nearest(input, choices) : undefined;
  if (near !== undefined) return [`${what}, not ${JSON.stringify(input)}`, `did you mean ${near}?`];
  if (typeof input === 'string' && choices.length > 0) return [what];
  if (isWrongType) return [`${what}, not ${typeText(input)}`];
  return [typeof input === 'number' ? `${what}, not ${input}` : what];
}

function unknownName(name: string, known: readonly string[]): [what: string, hint?: string] {
  const near = nearest(name, known);
  const isSafe = near !== undefined || isShown(name);
  const what = isSafe ? `has an unknown name ${JSON.stringify(name)}` : 'has an unknown name';
  if (near !== undefined) return [what, `did you mean ${near}?`];
  return known.length === 0 ? [what] : [what, `known names: ${known.join(', ')}`];
}

/** What was expected, in words, where the schema has none of its own. */
function expectation(issue: Issue): string {
  const { code, expected = '', values = [], errors = [], minimum, maximum } = issue;
  switch (code) {
    case 'invalid_type':
      return `must be ${types[expected] ?? expected}`;
    case 'invalid_value':
      return `must be ${values.length > 2 ? `one of ${values.join(', ')}` : values.join(' or ')}`;
    case 'invalid_union':
      return `must be ${alternatives(errors)}`;
    case 'too_small':
      return limit(issue, Number(minimum), 'at least', 'greater than');
    case 'too_big':
      return limit(issue, Number(maximum), 'at most', 'less than');
    default:
      return 'does not have the expected form';
  }
}

const types: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

function alternatives(errors: readonly (readonly Issue[])[]): string {
  const all = new Set<string>();
  for (const [first] of errors) {
    const words = first === undefined ? '' : first.message || expectation(first);
    if (words.startsWith('must be ')) all.add(words.slice('must be '.length));
  }

  return all.size === 0 ? 'another value' : [...all].join(', or ');
}

const units: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

function limit(
  { origin = '', inclusive = true }: Issue,
  bound: number,
  upTo: string,
  beyond: string,
): string {
  const unit = units[origin];
  if (unit === undefined) return `must be ${inclusive ? upTo : beyond} ${bound}`;
  if (upTo === 'at least' && bound === 1) return 'must not be empty';
  return `must have ${upTo} ${bound} ${unit}${bound === 1 ? '' : 's'}`;
}

function typeText(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && !Number.isInteger(value)
    ? String(value)
    : `a ${typeof value}`;
}
