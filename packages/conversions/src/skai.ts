import { parameterOf } from './click-id.ts';
import { wrongAge } from './eligible.ts';
import type { SheetFormat } from './format.ts';
import { validateSheet } from './sheet.ts';
import { callTimes, localTime } from './times.ts';

const titles = [
  'date_time',
  'caller_number',
  'ct_number',
  'smb_number',
  'caller_name',
  'caller_address',
  'call_start',
  'call_end',
  'call_id',
  'call_status',
  'k_clickid',
];

/** Skai (Kenshoo), daily call file. The caller's number, name and address may be empty there, and always are. */
export const skai: SheetFormat = {
  name: 'skai',
  title: 'Skai (Kenshoo), call file',
  delimiter: ',',
  needsName: false,
  needsExtensions: false,
  notes: [
    "The caller's number, name and address stay empty: Skai does not need them.",
    'Times are on the clock of the account; Skai must be set to the same zone.',
  ],
  head: () => [titles],
  row(call, options) {
    const id = parameterOf(call, 'k_clickid');
    if (id === null) return { reason: 'no_click_id' };
    const times = callTimes(call, options);
    if ('reason' in times) return times;
    const age = wrongAge({ start: times.start, click: times.start }, options, {
      minHours: 0,
      maxClickAge: null,
    });
    if (age) return { reason: age };
    const zone = options.timeZone ?? 'UTC';
    const sid = String(call.sid);
    const answered = Number(call.talk_minutes) > 0 ? 'Answered' : 'Not Answered';
    const start = localTime(times.start, zone);
    const dialled = String(call.dnis ?? '').replace(/[^0-9+]/g, '');
    return {
      row: [start, '', dialled, '', '', '', start, localTime(times.end, zone), sid, answered, id],
      key: sid,
    };
  },
  validate: (text) => {
    const time = { pattern: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/, example: '2026-11-20 14:03:00' };
    const empty = { pattern: /^$/, example: 'an empty cell', optional: true };
    return validateSheet(text, {
      delimiter: ',',
      head: [titles],
      columns: [
        { title: 'date_time', ...time },
        { title: 'caller_number', ...empty },
        { title: 'ct_number', pattern: /^\+?\d{3,15}$/, example: '8005550100', optional: true },
        { title: 'smb_number', ...empty },
        { title: 'caller_name', ...empty },
        { title: 'caller_address', ...empty },
        { title: 'call_start', ...time },
        { title: 'call_end', ...time },
        { title: 'call_id', pattern: /^\S{1,100}$/, example: '1000000001' },
        { title: 'call_status', pattern: /^(Not )?Answered$/, example: 'Answered' },
        { title: 'k_clickid', pattern: /^[A-Za-z0-9_][\w.|~:-]{2,511}$/, example: 'a1b2c3' },
      ],
      keyColumns: [8],
      phoneColumns: [2],
    });
  },
};
