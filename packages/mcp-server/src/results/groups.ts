import type { Call, FieldSpec, Version } from '@call-attribution/core';
import { count, createGroupTable, sum } from '@call-attribution/node-stream';
import { selectField } from '../fields/select.ts';
import type { Cell, RecordView } from '../fields/view.ts';

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Parts of `date_added` that calls can be grouped by, read from the time as it was sent: no time zone is applied. */
export const timeParts: Readonly<Record<string, (dateAdded: string) => Cell>> = {
  month: (time) => time.slice(0, 7),
  day: (time) => time.slice(0, 10),
  hour: (time) => Number(time.slice(11, 13)),
  weekday: (time) => weekdays[new Date(`${time.slice(0, 10)}T00:00:00Z`).getUTCDay()] ?? null,
};

/** What calls are grouped by. */
export interface GroupKeys {
  readonly names: readonly string[];
  /** The fields that the keys come from. */
  readonly specs: readonly FieldSpec[];
  /** For each name, the key of a call: masked and fenced like every value. */
  readonly columns: readonly ((call: Call) => Cell)[];
}

/** Strings in a key are cut to this length. */
const textLimit = 80;

/** Turns names of fields and of parts of the time into keys. */
export function groupKeys(
  names: readonly string[],
  { fields, version, view }: { fields: readonly FieldSpec[]; version: Version; view: RecordView },
): GroupKeys {
  const parts = names.map((given) => {
    const name = given.trim().toLowerCase();
    const timePart = Object.hasOwn(timeParts, name) ? timeParts[name] : undefined;
    if (timePart) {
      const specs = fields.filter((spec) => spec.name === 'date_added');
      return { name, specs, of: (call: Call) => timePart(String(call.date_added)) };
    }
    const spec = selectField(fields, version, name);
    const specs = [spec];
    return { name: spec.name, specs, of: (call: Call) => view(call, specs, textLimit)[0] ?? null };
  });
  return {
    names: parts.map((part) => part.name),
    specs: parts.flatMap((part) => part.specs),
    columns: parts.map((part) => part.of),
  };
}

/** One group of calls and its measures. */
export interface Group {
  readonly key: readonly Cell[];
  readonly calls: number;
  /** Talk time of the group in tenths of a minute, so that no sum is off by rounding. */
  readonly tenths: number;
}

/** Groups calls by keys, one call at a time. */
export interface Grouping {
  add(call: Call): void;
  /** The groups with most calls first; ties in order of their keys. */
  ranked(): Group[];
}

/** Makes an empty grouping. */
export function createGrouping(keys: GroupKeys): Grouping {
  // A key may be named like a measure or another key, so columns go by position.
  const columns = keys.columns.map((keyOf, i) => [`key ${i}`, keyOf] as const);
  const table = createGroupTable({
    by: Object.fromEntries(columns),
    measures: { calls: count<Call>(), tenths: sum<Call>(tenthsOf) },
  });
  return {
    add: table.add,
    ranked() {
      const groups = table.rows().map((row) => ({
        key: columns.map(([column]) => row[column] as Cell),
        calls: row.calls,
        tenths: row.tenths,
      }));
      const name = ({ key }: Group): string => JSON.stringify(key);
      return groups.sort((a, b) => b.calls - a.calls || (name(a) < name(b) ? -1 : 1));
    },
  };
}

const tenthsOf = ({ talk_minutes: minutes }: Call): number => Math.round(Number(minutes ?? 0) * 10) || 0;
