import { ResponseError } from '../errors/calls-error.ts';
import { wordsOf } from '../errors/code-table.ts';
import { responseErrors } from '../errors/codes.ts';
import {
  findProblems,
  hasOnlyDocumented,
  keepsTable,
  type RecordProblem,
  shapeOf,
  unknownFields,
} from './check-record.ts';
import type { Version } from './fields.ts';
import { aliases, neutralFromV2, renamedV2 } from './generated/adapters.ts';
import type { Call } from './generated/calls.ts';
import type { Row } from './generated/checks.ts';

/** What happens to a record that differs from the table: `strict` throws, `report` reports it and keeps it. */
export type RecordMode = 'strict' | 'report';

/** See `toCall`. */
export interface ToCallOptions {
  /** What happens to a record that differs from the table of fields. @default 'report' */
  readonly records?: RecordMode | undefined;
  /** Called for each difference from the table in mode `report`. */
  readonly onProblem?: ((problem: RecordProblem) => void) | undefined;
}

/**
 * Checks a record of a version and gives its fields their version-neutral names. Values stay as they were sent, and
 * unknown fields are kept. A v3 record that needs no renaming is returned itself, not copied.
 *
 * @example
 * const call = toCall(JSON.parse(line), 'v2', { records: 'strict' });
 */
export function toCall(record: unknown, version: Version, options: ToCallOptions = {}): Call {
  const row = asRow(record);
  const mode = options.records ?? 'report';
  const keeps = keepsTable(row, version);
  // All documented fields are there, and no others: nothing is left to check.
  if (keeps && hasOnlyDocumented(row, version)) return (version === 'v3' ? row : neutralFromV2(row)) as Call;
  const { unknown, aliased } = shapeOf(row, version);
  if (keeps && !aliased) {
    if (unknown.length > 0 && options.onProblem)
      for (const problem of unknownFields(row, unknown)) options.onProblem(problem);
    // Neutral and v3 names are the same, so a v3 record that keeps the table is a Call already.
    return (version === 'v3' ? row : withExtras(neutralFromV2(row), row, unknown)) as Call;
  }
  const documented = aliased ? withoutAliases(row, version) : row;
  judge(documented, version, mode, options.onProblem);
  return (version === 'v3' ? documented : renamed(documented)) as unknown as Call;
}

function withExtras(target: object, source: object, names: readonly string[]): object {
  // A v2 record with a v3 name next to its own: the documented one has the value.
  for (const name of names)
    if (!Object.hasOwn(target, name))
      put(target as Record<string, unknown>, name, (source as Record<string, unknown>)[name]);
  return target;
}

function asRow(record: unknown): Row {
  if (typeof record === 'object' && record !== null && !Array.isArray(record)) return record as Row;
  let found = record === null ? 'null' : `a ${typeof record}`;
  if (Array.isArray(record)) found = 'an array';
  throw new ResponseError('invalid_record', `A call record must be an object; found ${found}.`, {
    hint: 'Check that the base URL points to the call-attribution API.',
  });
}

function judge(
  row: Row,
  version: Version,
  mode: RecordMode,
  onProblem?: (problem: RecordProblem) => void,
): void {
  const problems = findProblems(row, version);
  const withoutKey = typeof row.sid !== 'string' && typeof row.sid !== 'number';
  if (withoutKey || (mode === 'strict' && problems.some((problem) => problem.kind !== 'unknown_field')))
    throw invalidRecord(problems, version, !withoutKey);
  if (onProblem) for (const problem of problems) onProblem(problem);
}

function invalidRecord(problems: readonly RecordProblem[], version: Version, hasSid: boolean): ResponseError {
  const lines = problems
    .filter((problem) => problem.kind !== 'unknown_field')
    .map(({ field, expected, found }) => `${field}: expected ${expected}, found ${found}`);
  const more = lines.length > 3 ? `; and ${lines.length - 3} more` : '';
  return new ResponseError(
    'invalid_record',
    `A ${version} call record does not match the table of fields: ${lines.slice(0, 3).join('; ')}${more}.`,
    {
      hint: hasSid
        ? wordsOf(responseErrors.invalid_record).hint
        : 'A record without `sid` cannot be told apart from others; check what the server sends.',
    },
  );
}

/** Moves values that came under a known alias to the documented name of the version. */
function withoutAliases(row: Row, version: Version): Row {
  const source = row as Record<string, unknown>;
  const found = Object.keys(source).filter((name) => Object.hasOwn(aliases, name));
  if (found.length === 0) return row;
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(source)) {
    const target = found.includes(name) ? documentedName(aliases[name] ?? name, version) : name;
    // A record with both names keeps both: the documented one has the value, the other is an unknown field.
    put(copy, target !== name && Object.hasOwn(source, target) ? name : target, value);
  }
  return copy as Row;
}

const v2Names = Object.fromEntries(Object.entries(renamedV2).map(([v2, neutral]) => [neutral, v2]));

const documentedName = (neutral: string, version: Version): string =>
  version === 'v2' ? (v2Names[neutral] ?? neutral) : neutral;

function renamed(row: Row): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    const v2Name = v2Names[name];
    if (v2Name !== undefined && Object.hasOwn(row, v2Name)) continue;
    put(copy, Object.hasOwn(renamedV2, name) ? (renamedV2[name] ?? name) : name, value);
  }
  return copy;
}

/** Plain assignment, except where it would change the prototype. */
function put(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
