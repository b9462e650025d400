import { ResponseError } from '../errors/classes.ts';
import { wordsOf } from '../errors/code-table.ts';
import { responseErrors } from '../errors/codes.ts';
import {
  brokenFields,
  hasOnlyDocumented,
  keepsTable,
  type RecordProblem,
  shapeOf,
  typeName,
  unknownFields,
} from './check-record.ts';
import type { Version } from './fields.ts';
import { neutralFromV2 } from './generated/adapters.ts';
import type { Call } from './generated/calls.ts';
import type { Row } from './generated/checks.ts';

/**
 * What happens to a record that differs from the table: `strict` throws, `report` reports it and
 * keeps it.
 */
export type RecordMode = 'strict' | 'report';

/** See `toCall`. */
export interface ToCallOptions {
  /** What happens to a record that differs from the table of fields. @default 'report' */
  readonly records?: RecordMode | undefined;
  /** Called for each difference from the table in mode `report`. */
  readonly onProblem?: ((problem: RecordProblem) => void) | undefined;
}

/**
 * Checks a record of a version and gives its fields their version-neutral names. Values stay as
 * they were sent, and unknown fields are kept. A v3 record that needs no renaming is returned
 * itself, not copied.
 *
 * @example
 * const call = toCall(JSON.parse(line), 'v2', { records: 'strict' });
 */
export function toCall(record: unknown, version: Version, options: ToCallOptions = {}): Call {
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    throw new ResponseError(
      'invalid_record',
      `A call record must be an object; found ${typeName(record)}.`,
      {
        hint: 'Check that the base URL points to the call-attribution API.',
      },
    );

  const row: Row = record;
  const keeps = keepsTable(row, version);

  // All documented fields are there, and no others: nothing is left to check.
  if (keeps && hasOnlyDocumented(row, version))
    return (version === 'v3' ? row : neutralFromV2(row)) as Call;
  const { unknown, renames } = shapeOf(row, version);
  if (renames.length > 0) return toCall(renamed(row, renames), version, options);

  const broken = keeps ? [] : brokenFields(row, version);
  const hasSid = typeof row.sid === 'string' || typeof row.sid === 'number';
  const { records, onProblem } = options;
  if (!hasSid || (records === 'strict' && broken.length > 0))
    throw invalidRecord(broken, version, hasSid);
  if (onProblem)
    for (const problem of [...broken, ...unknownFields(row, unknown)]) onProblem(problem);

  // Neutral and v3 names are the same.
  if (version === 'v3') return row as Call;
  const call = neutralFromV2(row) as Record<string, unknown>;
  if (!keeps) for (const name in call) if (call[name] === undefined) delete call[name];
  for (const name of unknown) {
    // A v2 record with a v3 name next to its own: the documented one has the value.
    if (Object.hasOwn(call, name)) continue;
    const value = (row as Record<string, unknown>)[name];
    // Plain assignment would change the prototype.
    if (name !== '__proto__') call[name] = value;
    else
      Object.defineProperty(call, name, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }

  return call as Call;
}

function renamed(row: Row, renames: readonly (readonly [string, string])[]): Row {
  const copy: Record<string, unknown> = { ...row };
  for (const [from, to] of renames) {
    copy[to] = copy[from];
    delete copy[from];
  }
  return copy;
}

function invalidRecord(
  broken: readonly RecordProblem[],
  version: Version,
  hasSid: boolean,
): ResponseError {
  const lines = broken.map(
    ({ field, expected, found }) => `${field}: expected ${expected}, found ${found}`,
  );
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
