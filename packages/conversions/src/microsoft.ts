import { msclkidOf } from './click-id.ts';
import { conversionOf } from './conversion.ts';
import { clickLife } from './eligible.ts';
import type { SheetFormat } from './format.ts';
import { amount, conversionName, currencyCode, validateSheet } from './sheet.ts';
import { americanUtc } from './times.ts';

const time = {
  pattern: /^\d{1,2}\/\d{1,2}\/\d{4} \d{1,2}:\d{2}:\d{2} [AP]M$/,
  example: '11/20/2026 7:03:00 PM',
};
const click = { pattern: /^[A-Za-z0-9_-]{16,128}$/, example: 'f894f652ea334e739002f7167ab8f8e3' };

const limits = { minHours: 2, maxClickAge: clickLife };

const titles = [
  'Microsoft Click ID',
  'Conversion Name',
  'Conversion Time',
  'Conversion Value',
  'Conversion Currency',
];
// Times are written in UTC, so the zone line says so; the zone of the account has already been used.
const head = [['Parameters:TimeZone=+0000', '', '', '', ''], titles];

/** Microsoft Advertising, offline conversions as the website takes them. */
export const microsoftAds: SheetFormat = {
  name: 'microsoft-ads',
  title: 'Microsoft Advertising, offline conversions',
  delimiter: ',',
  needsName: true,
  needsExtensions: false,
  notes: [
    'The click id is read from the addresses of the visit (msclkid): auto-tagging must be on in Microsoft Advertising.',
    'A goal of yesterday or earlier is ready; a new goal takes conversions two hours after it is made.',
  ],
  head: () => head,
  row(call, options) {
    const found = conversionOf(call, msclkidOf(call), options, limits);
    if ('reason' in found) return found;
    const at = americanUtc(found.start);
    const row = [found.id, options.conversionName, at, found.value, found.currency];
    return { row, key: `${found.id}\u0000${at}` };
  },
  validate: (text) =>
    validateSheet(text, {
      delimiter: ',',
      head,
      columns: [
        { title: 'Microsoft Click ID', ...click },
        { title: 'Conversion Name', ...conversionName },
        { title: 'Conversion Time', ...time },
        { title: 'Conversion Value', ...amount },
        { title: 'Conversion Currency', ...currencyCode },
      ],
      keyColumns: [0, 1, 2],
    }),
};

const bulkTitles = [
  'Type',
  'Status',
  'Id',
  'Parent Id',
  'Client Id',
  'Name',
  'Conversion Currency Code',
  'Conversion Name',
  'Conversion Time',
  'Conversion Value',
  'Microsoft Click Id',
];
const bulkHead = [bulkTitles, ['Format Version', '', '', '', '', '6.0', '', '', '', '', '']];
const empty = { pattern: /^$/, example: 'an empty cell', optional: true };

/** Microsoft Advertising bulk file, format 6.0. `Client Id` carries the session id, so that a result can be traced back. */
export const microsoftBulk: SheetFormat = {
  name: 'microsoft-bulk',
  title: 'Microsoft Advertising, bulk file',
  delimiter: ',',
  needsName: true,
  needsExtensions: false,
  notes: ['Upload it with the Bulk service; Client Id is the session id of the call, to trace results back.'],
  head: () => bulkHead,
  row(call, options) {
    const found = conversionOf(call, msclkidOf(call), options, limits);
    if ('reason' in found) return found;
    const { id, value, currency } = found;
    const at = americanUtc(found.start);
    const row = [
      'Offline Conversion',
      '',
      '',
      '',
      String(call.sid),
      '',
      currency,
      options.conversionName,
      at,
      value,
      id,
    ];
    return { row, key: `${id}\u0000${at}` };
  },
  validate: (text) =>
    validateSheet(text, {
      delimiter: ',',
      head: bulkHead,
      columns: [
        { title: 'Type', pattern: /^Offline Conversion$/, example: 'Offline Conversion' },
        { title: 'Status', ...empty },
        { title: 'Id', ...empty },
        { title: 'Parent Id', ...empty },
        { title: 'Client Id', pattern: /^\S{1,100}$/, example: '1000000001', optional: true },
        { title: 'Name', ...empty },
        { title: 'Conversion Currency Code', ...currencyCode },
        { title: 'Conversion Name', ...conversionName },
        { title: 'Conversion Time', ...time },
        { title: 'Conversion Value', ...amount },
        { title: 'Microsoft Click Id', ...click },
      ],
      keyColumns: [7, 8, 10],
    }),
};
