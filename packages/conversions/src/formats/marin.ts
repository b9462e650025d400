import type { SheetFormat } from '../sheet-format.ts';
import {
  americanDate,
  clickIdColumn,
  constantColumn,
  usualAcceptance,
  valueColumn,
} from './columns.ts';

/**
 * Marin, revenue upload in add mode: one conversion a row, dated by the click. A column without
 * values is left out, because Marin reads an empty one as "overwrite with nothing".
 */
export const marin: SheetFormat = {
  name: 'marin',
  title: 'Marin, revenue upload (add)',
  delimiter: '\t',
  accepts: {
    ...usualAcceptance,
    matchBy: ['mkwid'],
    findsBy: null,
    takesConsent: false,
    minTalk: '30s',
    minAge: '0h',
    clickWindow: null,
  },
  needsName: true,
  notes: [
    'For the FTP drop the file must be named bulkrevenueadd_YYYYMMDD.txt: the name selects the add mode.',
    'Add mode adds: uploading the same sheet twice doubles the figures.',
    'Keyword and creative IDs come from the URLs of the visit (mkwid, pcrid).',
  ],
  // No column is a key: two calls from one keyword on one day are two equal rows.
  columns: ({ conversionName, value, outcomes }) => [
    {
      title: 'Date',
      cell: ({ clickedAt }, { timeZone }) => americanDate(clickedAt, timeZone),
      pattern: /^\d{2}\/\d{2}\/\d{4}$/,
    },
    clickIdColumn('Keyword ID', 'mkwid'),
    { ...clickIdColumn('Creative ID', 'pcrid'), pattern: /^[\w.|~:-]+$/, isOptional: true },
    { ...constantColumn(`${conversionName} Conv`, '1'), pattern: /^\d+$/ },
    ...(value || outcomes ? [{ ...valueColumn(`${conversionName} Rev`), isOptional: false }] : []),
  ],
};
