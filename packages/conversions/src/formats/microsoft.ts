import type { LedgerEntry } from '../entry.ts';
import type { AdjustmentFormat, SheetColumn, SheetFormat } from '../sheet-format.ts';
import {
  adjustedClickColumn,
  americanUtc,
  clickIdColumn,
  constantColumn,
  currencyColumn,
  emptyColumn,
  nameColumn,
  sidColumn,
  usualAcceptance,
  valueColumn,
} from './columns.ts';

const accepts: SheetFormat['accepts'] = {
  ...usualAcceptance,
  matchBy: ['msclkid'],
  findsBy: 'click',
  takesConsent: false,
  minTalk: '30s',
  minAge: '2h',
};

const clickForm = /^[A-Za-z0-9_-]{16,128}$/;

const clickColumn = (title: string): SheetColumn => ({
  ...clickIdColumn(title, 'msclkid'),
  pattern: clickForm,
  isKey: true,
});

const timeForm = /^\d{1,2}\/\d{1,2}\/\d{4} \d{1,2}:\d{2}:\d{2} [AP]M$/;
const timeColumn: SheetColumn = {
  title: 'Conversion Time',
  cell: ({ at }) => americanUtc(at),
  pattern: timeForm,
  isKey: true,
};

// The documented sheet for adjustments is that of the Bulk service, for conversions from the
// website too.
const adjustments: AdjustmentFormat = {
  delimiter: ',',
  notes: ['Upload adjustments with the Bulk service, after the sheet with the conversions.'],
  preamble: () => ({ after: ['Format Version', '', '', '', '', '6.0'] }),
  columns: () => [
    constantColumn<LedgerEntry>('Type', 'Offline Conversion'),
    emptyColumn<LedgerEntry>('Status'),
    emptyColumn<LedgerEntry>('Id'),
    emptyColumn<LedgerEntry>('Parent Id'),
    { ...sidColumn<LedgerEntry>('Client Id'), isOptional: true },
    emptyColumn<LedgerEntry>('Name'),
    currencyColumn<LedgerEntry>('Adjustment Currency Code'),
    { title: 'Adjustment Time', cell: (_, { now }) => americanUtc(now), pattern: timeForm },
    {
      title: 'Adjustment Type',
      cell: ({ action }) => (action === 'retract' ? 'Retract' : 'Restate'),
      pattern: /^(Restate|Retract)$/,
    },
    valueColumn<LedgerEntry>('Adjustment Value'),
    { ...nameColumn<LedgerEntry>('Conversion Name'), isKey: true },
    { title: 'Conversion Time', cell: ({ at }) => americanUtc(at), pattern: timeForm, isKey: true },
    { ...adjustedClickColumn('Microsoft Click Id'), pattern: clickForm, isKey: true },
  ],
};

/** Microsoft Advertising, offline conversions as the website takes them. */
export const microsoftAds: SheetFormat = {
  name: 'microsoft-ads',
  title: 'Microsoft Advertising, offline conversions',
  delimiter: ',',
  accepts,
  needsName: true,
  notes: [
    'The click ID comes from the URLs of the visit (msclkid): auto-tagging must be on in Microsoft Advertising.',
    'A goal accepts conversions two hours after you create it.',
  ],
  // Times are written in UTC, so this line says UTC, whatever the time zone of the account.
  preamble: () => ({ before: ['Parameters:TimeZone=+0000'] }),
  columns: () => [
    clickColumn('Microsoft Click ID'),
    { ...nameColumn('Conversion Name'), isKey: true },
    timeColumn,
    valueColumn('Conversion Value'),
    currencyColumn('Conversion Currency'),
  ],
  adjustments,
};

/**
 * Microsoft Advertising bulk file, format 6.0. `Client Id` is the session id, so that a result can
 * be traced back.
 */
export const microsoftBulk: SheetFormat = {
  name: 'microsoft-bulk',
  title: 'Microsoft Advertising, bulk file',
  delimiter: ',',
  accepts,
  needsName: true,
  notes: [
    'Upload it with the Bulk service. Client Id is the session ID of the call, to trace results back.',
  ],
  preamble: () => ({ after: ['Format Version', '', '', '', '', '6.0'] }),
  columns: () => [
    constantColumn('Type', 'Offline Conversion'),
    emptyColumn('Status'),
    emptyColumn('Id'),
    emptyColumn('Parent Id'),
    { ...sidColumn('Client Id'), isOptional: true },
    emptyColumn('Name'),
    currencyColumn('Conversion Currency Code'),
    { ...nameColumn('Conversion Name'), isKey: true },
    timeColumn,
    valueColumn('Conversion Value'),
    clickColumn('Microsoft Click Id'),
  ],
  adjustments,
};
