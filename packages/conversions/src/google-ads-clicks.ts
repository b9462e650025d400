import { gclidOf } from './click-id.ts';
import { conversionOf } from './conversion.ts';
import { clickLife } from './eligible.ts';
import type { SheetFormat, SheetOptions } from './format.ts';
import { amount, conversionName, currencyCode, validateSheet } from './sheet.ts';
import { withOffset } from './times.ts';

const titles = [
  'Google Click ID',
  'Conversion Name',
  'Conversion Time',
  'Conversion Value',
  'Conversion Currency',
];

const head = (options: SheetOptions): string[][] => [
  [`Parameters:TimeZone=${options.timeZone ?? ''}`, '', '', '', ''],
  titles,
];

/** Google Ads, conversions from clicks: one row for each call whose visit carries a Google click id. */
export const googleAdsClicks: SheetFormat = {
  name: 'google-ads-clicks',
  title: 'Google Ads, conversions from clicks',
  delimiter: ',',
  needsName: true,
  needsExtensions: false,
  notes: [
    'Google Ads > Goals > Conversions > Uploads takes this file as it is.',
    'Sending an overlap of a day or more is fine: the same click, name and time counts once.',
  ],
  head,
  row(call, options) {
    const found = conversionOf(call, gclidOf(call), options, { minHours: 6, maxClickAge: clickLife });
    if ('reason' in found) return found;
    const time = withOffset(found.start, options.timeZone ?? 'UTC');
    const row = [found.id, options.conversionName, time, found.value, found.currency];
    return { row, key: `${found.id}\u0000${time}` };
  },
  validate: (text, options) =>
    validateSheet(text, {
      delimiter: ',',
      head: head(options),
      columns: [
        { title: 'Google Click ID', pattern: /^[A-Za-z0-9_][\w.|~:-]{2,511}$/, example: 'Cj0KCQ...' },
        { title: 'Conversion Name', ...conversionName },
        { title: 'Conversion Time', pattern: googleTime, example: '2026-11-20 14:03:00-0500' },
        { title: 'Conversion Value', ...amount },
        { title: 'Conversion Currency', ...currencyCode },
      ],
      keyColumns: [0, 1, 2],
    }),
};

/** `2026-11-20 14:03:00-0500`, the form that needs no guess about a clock change. */
export const googleTime = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[+-]\d{4}$/;
