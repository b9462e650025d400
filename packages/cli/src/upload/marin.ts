import { parameterOf } from './click-id.ts';
import { openStatus, wrongAge } from './eligible.ts';
import type { SheetFormat, SheetOptions } from './format.ts';
import { validateSheet } from './sheet.ts';
import { americanDate, callTimes, clickTime } from './times.ts';
import { valueCell } from './value-cell.ts';

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
    const keyword = parameterOf(call, 'mkwid');
    if (keyword === null) return { reason: 'no_click_id' };
    const open = openStatus(call);
    if (open) return { reason: open };
    const times = callTimes(call, options);
    if ('reason' in times) return times;
    const click = clickTime(call, times.start, options);
    const age = wrongAge({ start: times.start, click }, options, { minHours: 0, maxClickAge: null });
    if (age) return { reason: age };
    const value = valueCell(call, options);
    if (value === null) return { reason: 'no_value' };
    const date = americanDate(click, options.timeZone ?? 'UTC');
    const row = [date, keyword, parameterOf(call, 'pcrid') ?? '', '1', ...(options.value ? [value] : [])];
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
