import { readMoment } from '../time/moment.ts';
import { checkTimeZone } from '../time/zone.ts';
import { type FieldSpec, fields } from './fields.ts';
import type { Call, CallView } from './generated/calls.ts';
import { isDecimalString } from './wire-forms.ts';

/** See `readCall`. */
export interface ReadCallOptions {
  /**
   * IANA name of the time zone that the account's times are in. The API does not say, so it is
   * required.
   */
  readonly timeZone: string;
}

const numbers = fields.filter(({ type }) => type === 'integer-string' || type === 'decimal-string');
const times = fields.filter(({ type }) => type === 'datetime' || type === 'datetime-tenths');

/**
 * A call with numbers instead of numeric strings and instants instead of naive times. A value that
 * cannot be read becomes null and is named in `unreadable`. Times that do not exist in the zone, or
 * exist twice, say so in `certainty`.
 *
 * @example
 * const { talk_minutes, date_added } = readCall(call, { timeZone: 'America/New_York' });
 */
export function readCall(call: Call, input: ReadCallOptions): CallView {
  const { timeZone } = Object(input) as ReadCallOptions;
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

  read(numbers, (text) => (isDecimalString(text) ? Number(text) : null));
  read(times, (text) => readMoment(text, timeZone));
  return { ...view, unreadable } as unknown as CallView;
}
