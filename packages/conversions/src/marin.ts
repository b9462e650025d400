import { parameterOf } from './click-id.ts';
import { conversionOf } from './conversion.ts';
import type { SheetFormat, SheetOptions } from './format.ts';
import { validateSheet } from './sheet.ts';
import { americanDate } from './times.ts';

const titles = (options: SheetOptions): string[] => [
  'Date',
  'Keyword ID',
  'Creative ID',
  `${options.conversionName} Conv`,
  ...(options.value ? [`${options.conversionName} Rev`] : []),
];

/**
 * Marin, revenue upload in add mode: tab-delimited, one conversion a row, dated by the click. A column that is not used
 * is left out as a whole, because Marin reads an empty one as "overwrite with nothing".
 */
export const marin: SheetFormat = {
  name: 'marin',
  title: 'Marin, revenue upload (add)',
  delimiter: '\t',
  needsName: true,
  needsExtensions: false,
  notes: [
    'For the FTP drop the file must be named bulkrevenueadd_YYYYMMDD.txt: the name chooses the add mode.',
    'Add mode adds: uploading the same sheet twice doubles the figures.',
    'Keyword and creative ids are read from the addresses of the visit (mkwid, pcrid).',
  ],
  head: (options) => [titles(options)],
  row(call, options) {
    const limits = { minHours: 0, maxClickAge: null };
    const found = conversionOf(call, parameterOf(call, 'mkwid'), options, limits);
    if ('reason' in found) return found;
    const date = americanDate(found.click, options.timeZone ?? 'UTC');
    const creative = parameterOf(call, 'pcrid') ?? '';
    const row = [date, found.id, creative, '1', ...(options.value ? [found.value] : [])];
    return { row, key: String(call.sid) };
  },
  validate: (text, options) =>
    validateSheet(text, {
      delimiter: '\t',
      head: [titles(options)],
      columns: [
        { title: 'Date', pattern: /^\d{2}\/\d{2}\/\d{4}$/, example: '11/20/2026' },
        { title: 'Keyword ID', pattern: /^[A-Za-z0-9_][\w.|~:-]{2,511}$/, example: 's8Hx2k' },
        { title: 'Creative ID', pattern: /^[\w.|~:-]+$/, example: '5551234', optional: true },
        { title: 'Conv', pattern: /^\d+$/, example: '1' },
        ...(options.value ? [{ title: 'Rev', pattern: /^\d+(\.\d{1,6})?$/, example: '25.00' }] : []),
      ],
      // Two calls on one day from one keyword are two rows alike.
      keyColumns: [],
    }),
};
