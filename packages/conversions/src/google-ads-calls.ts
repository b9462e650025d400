import { valueCell } from './conversion.ts';
import { clickLife, e164, openStatus, wrongAge } from './eligible.ts';
import type { SheetFormat, SheetOptions } from './format.ts';
import { googleTime } from './google-ads-clicks.ts';
import { amount, conversionName, currencyCode, validateSheet } from './sheet.ts';
import { callTimes, withOffset } from './times.ts';

const titles = [
  "Caller's Phone Number",
  'Call Start Time',
  'Conversion Name',
  'Conversion Time',
  'Conversion Value',
  'Conversion Currency',
];

const head = (options: SheetOptions): string[][] => [
  [`Parameters:TimeZone=${options.timeZone ?? ''}`, '', '', '', '', ''],
  titles,
];

/** Google Ads, conversions from calls: matched by caller number and start, so only calls through call extensions go in. */
export const googleAdsCalls: SheetFormat = {
  name: 'google-ads-calls',
  title: 'Google Ads, conversions from calls',
  delimiter: ',',
  needsName: true,
  needsExtensions: true,
  notes: [
    "This sheet holds callers' numbers, because Google Ads matches by them: keep it as you keep personal data.",
    'Google Ads > Goals > Conversions > Uploads takes this file as it is; a second upload of a call is not counted twice.',
  ],
  head,
  row(call, options) {
    if (!/extension/i.test(String(call.channel))) return { reason: 'not_a_call_extension' };
    const number = e164(call.ani);
    if (number === null) return { reason: 'no_caller_number' };
    if (call.ppc_status === 'Desktop') return { reason: 'desktop_call' };
    const open = openStatus(call);
    if (open) return { reason: open };
    const times = callTimes(call, options);
    if ('reason' in times) return times;
    const age = wrongAge({ start: times.start, click: times.start }, options, {
      minHours: 12,
      maxClickAge: clickLife,
    });
    if (age) return { reason: age };
    const value = valueCell(call, options);
    if (value === null) return { reason: 'no_value' };
    const zone = options.timeZone ?? 'UTC';
    const start = withOffset(times.start, zone);
    const currency = value === '' ? '' : (options.currency ?? '');
    const row = [number, start, options.conversionName, withOffset(times.end, zone), value, currency];
    return { row, key: `${number}\u0000${start}` };
  },
  validate: (text, options) =>
    validateSheet(text, {
      delimiter: ',',
      head: head(options),
      columns: [
        { title: "Caller's Phone Number", pattern: /^\+[1-9]\d{7,14}$/, example: '+12025550123' },
        { title: 'Call Start Time', pattern: googleTime, example: '2026-11-20 14:03:00-0500' },
        { title: 'Conversion Name', ...conversionName },
        { title: 'Conversion Time', pattern: googleTime, example: '2026-11-20 14:09:30-0500' },
        { title: 'Conversion Value', ...amount },
        { title: 'Conversion Currency', ...currencyCode },
      ],
      keyColumns: [0, 1, 2],
      phoneColumns: [0],
    }),
};
