import {
  type Call,
  fields,
  fromCall,
  isCallExtension,
  isTooDeep,
  phoneKey,
} from '@call-attribution/core/record';
import type { Value } from '../database/driver.ts';
import { StoreError } from '../database/errors.ts';
import { ownColumns } from '../database/own-columns.ts';
import { plainText } from './plain-text.ts';
import { keyOf } from './record-key.ts';
import type { TallyKey } from './tally.ts';
import { noTalk, noTime, secondsOf, tenthsOf } from './wire-values.ts';

/** The versions that a call was read with, the last one last. */
export type Versions = 'v3' | 'v2' | 'v2,v3' | 'v3,v2';

/** A call to write. */
export interface CallRow extends TallyKey {
  readonly key: string;
  readonly versions: Versions;
  /** Its JSON: the record of v3, and after it the fields that only v2 has. */
  readonly text: string;
  /** The caller's number as it was sent, for those who asked to be erased. */
  readonly caller: unknown;
  /** The values of {@link columns} but for the account. */
  values(): Value[];
}

/** The columns of a row, in the order of `values`, after the account. */
export const columns = [
  ...['sid', 'at', 'talk', 'extension', 'caller', 'versions', 'v3_length', 'record', 'exact', 'unknown'],
  ...ownColumns.map(({ name }) => name),
];

type Fields = Readonly<Record<string, unknown>>;

const onlyV2 = fields.filter(({ v2, v3 }) => v2 !== null && v3 === null).map(({ name }) => name);
const onlyV3 = fields.filter(({ v2, v3 }) => v3 !== null && v2 === null).map(({ name }) => name);
const shared = fields.flatMap(({ name, v2, v3 }) => (v2 === null || v3 === null ? [] : [name]));
const known = new Set(fields.map(({ name }) => name));

const hasAny = (call: Fields, names: readonly string[]) => names.some((name) => call[name] !== undefined);

/**
 * A call as a row. One without a sid is refused, because it could not be told from others, and so is one nested too deep. A value
 * that cannot be filtered by exactly is kept, and no filter on its field finds the call.
 */
export function toRow(call: Call): CallRow {
  const given = call as unknown as Fields;
  let isDeep = false;
  for (const name in given) {
    const value = given[name];
    if (typeof value !== 'object' || value === null) continue;
    if (isTooDeep(value))
      throw new StoreError(
        'unfit_record',
        'A call has a value nested more than 1,000 levels deep, so it cannot be stored.',
      );
    isDeep ||= isTooDeep(value, mostLevels);
  }
  if (!hasAny(given, onlyV3)) return rowOf(given, 'v2', isDeep);
  return rowOf(given, hasAny(given, onlyV2) ? 'v2,v3' : 'v3', isDeep);
}

/**
 * The row of a call that was read again. What only the other version has stays as it was: fields of its own, and unknown ones. What
 * was read with the same version alone is replaced.
 */
export function mergedRow(
  was: { readonly text: string; readonly versions: Versions },
  now: CallRow,
): CallRow {
  if (now.versions === was.versions || now.versions === 'v2,v3') return now;
  const versions = now.versions === 'v3' ? 'v2,v3' : 'v3,v2';
  const both = { ...(JSON.parse(was.text) as Fields), ...(JSON.parse(now.text) as Fields) };
  return rowOf(both, versions, true);
}

/** SQLite reads JSON of at most 1,000 levels. */
const mostLevels = 900;

/** The JSON of a call, and how long the record of v3 is in it without its last brace; null when the call has none, or nothing else. */
function textOf(
  call: Fields,
  versions: Versions,
): { readonly text: string; readonly v3Length: number | null } {
  if (versions === 'v2')
    return {
      text: JSON.stringify({ ...picked(call, [...shared, ...onlyV2]), ...unknownFields(call) }),
      v3Length: null,
    };
  const record = JSON.stringify(fromCall(call as unknown as Call, 'v3'));
  if (versions === 'v3') return { text: record, v3Length: null };
  const v3Length = record.length - 1;
  return { text: `${record.slice(0, v3Length)},${JSON.stringify(picked(call, onlyV2)).slice(1)}`, v3Length };
}

const picked = (call: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, call[name] ?? null]));

function unknownFields(call: Fields): Fields | null {
  let unknown: Record<string, unknown> | null = null;
  for (const name in call) {
    if (known.has(name) || call[name] === undefined) continue;
    // Without a prototype, since the name may be __proto__.
    unknown ??= Object.create(null) as Record<string, unknown>;
    unknown[name] = call[name];
  }
  return unknown;
}

function rowOf(call: Fields, versions: Versions, isDeep: boolean): CallRow {
  // A few servers send it as a number.
  const sid = typeof call.sid === 'number' ? String(call.sid) : call.sid;
  if (typeof sid !== 'string' || sid === '')
    throw new StoreError('unfit_record', 'A call does not have a sid, so it cannot be stored.');
  const { text, v3Length } = textOf(call, versions);
  const { ani, channel, date_added, talk_minutes } = call;
  const at = secondsOf(typeof date_added === 'string' ? date_added : '') ?? noTime;
  const talk = tenthsOf(typeof talk_minutes === 'string' ? talk_minutes : '') ?? noTalk;
  const extension = isCallExtension({ channel }) ? 1 : 0;
  const key = keyOf(sid);
  return {
    ...{ key, at, talk, extension, versions, text, caller: ani },
    values() {
      const record = plainText(text, isDeep);
      const plain = record === text ? call : (JSON.parse(record) as Fields);
      const unknown = unknownFields(plain);
      const caller = phoneKey(ani);
      return [
        ...[key, at, talk, extension, caller === '' ? null : keyOf(caller), versions, v3Length, record],
        record === text ? null : text,
        unknown && JSON.stringify(unknown),
        ...ownColumns.map(({ name, read }) => read(plain[name])),
      ];
    },
  };
}
