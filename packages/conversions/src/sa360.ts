import { gclidOf } from './click-id.ts';
import { conversionOf } from './conversion.ts';
import { clickLife } from './eligible.ts';
import type { SheetFormat } from './format.ts';
import { amount, conversionName, validateSheet } from './sheet.ts';
import { isoUtc } from './times.ts';

const titles = [
  'Row type',
  'Action',
  'Status',
  'Click ID',
  'Advertiser Conversion ID',
  'Conversion timestamp',
  'Conversion revenue',
  'Floodlight activity name',
];

/** Search Ads 360, conversions bulksheet: attributed by click id, told apart by the session id of the call. */
export const sa360: SheetFormat = {
  name: 'sa360',
  title: 'Search Ads 360, conversions bulksheet',
  delimiter: ',',
  needsName: true,
  needsExtensions: false,
  notes: [
    'Upload it on the Conversions tab, not under Bulk actions.',
    'Times are in UTC, which no setting of engine or advertiser account can shift.',
  ],
  head: () => [titles],
  row(call, options) {
    const found = conversionOf(call, gclidOf(call), options, { minHours: 6, maxClickAge: clickLife });
    if ('reason' in found) return found;
    const sid = String(call.sid);
    const { id, start, value } = found;
    const row = ['Conversion', 'Add', 'Active', id, sid, isoUtc(start), value, options.conversionName];
    return { row, key: sid };
  },
  validate: (text) =>
    validateSheet(text, {
      delimiter: ',',
      head: [titles],
      columns: [
        { title: 'Row type', pattern: /^Conversion$/, example: 'Conversion' },
        { title: 'Action', pattern: /^Add$/, example: 'Add' },
        { title: 'Status', pattern: /^Active$/, example: 'Active' },
        { title: 'Click ID', pattern: /^[A-Za-z0-9_][\w.|~:-]{2,511}$/, example: 'Cj0KCQ...' },
        { title: 'Advertiser Conversion ID', pattern: /^\S{1,100}$/, example: '1000000001' },
        {
          title: 'Conversion timestamp',
          pattern: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/,
          example: '2026-11-20T19:03:00Z',
        },
        { title: 'Conversion revenue', ...amount },
        { title: 'Floodlight activity name', ...conversionName },
      ],
      keyColumns: [4],
    }),
};
