import { readMoment } from '../time/moment.ts';
import { checkTimeZone } from '../time/zone.ts';
import { type FieldSpec, fields } from './fields.ts';
import type { Call, CallView } from './generated/calls.ts';
import { isDecimalText } from './wire-forms.ts';

/** Options of `readCall`. */
export interface ReadCallOptions {
  /** IANA name of the zone the account's times are in. The API names none, so that it has to be given. */
  readonly timeZone: string;
}

const numbers = fields.filter(({ type }) => type === 'integer-string' || type === 'decimal-string');
const times = fields.filter(({ type }) => type === 'datetime' || type === 'datetime-tenths');

/**
 * A call with its number texts as numbers and its times as instants. What cannot be read becomes null and is named in
 * `unreadable`; times that do not exist or exist twice in the zone say so in `certainty`.
 */
export function readCall(call: Call, { timeZone }: ReadCallOptions): CallView {
  checkTimeZone(timeZone);
  const source: Readonly<Record<string, unknown>> = call;
  const view: Record<string, unknown> = { ...call };
  const unreadable: string[] = [];
  const read = (list: readonly FieldSpec[], convert: (text: string) => unknown) => {
    for (const { name } of list) {
      const value = source[name];
      if (value === undefined || value === null) continue;
      view[name] = typeof value === 'string' ? convert(value) : null;
      if (view[name] === null) unreadable.push(name);
    }
  };
  read(numbers, (text) => (isDecimalText(text) ? Number(text) : null));
  read(times, (text) => readMoment(text, timeZone));
  return { ...view, unreadable } as unknown as CallView;
}
