import type { Conversion } from '../conversion.ts';
import type { LedgerEntry } from '../entry.ts';
import type { AdjustmentFormat, SheetColumn, SheetFormat } from '../sheet-format.ts';
import {
  adjustedClickColumn,
  clickIdColumn,
  consentColumns,
  currencyColumn,
  nameColumn,
  usualAcceptance,
  valueColumn,
  withOffset,
} from './columns.ts';

const zoneLine: SheetFormat['preamble'] = ({ timeZone }) => ({
  before: [`Parameters:TimeZone=${timeZone ?? ''}`],
});

// Local time with its offset is the form that needs no guess about a clock change.
function timeColumn<T = Conversion>(
  title: string,
  timeOf: (item: T, now: number) => number,
): SheetColumn<T> {
  return {
    title,
    cell: (item, { timeZone, now }) => withOffset(timeOf(item, now), timeZone),
    pattern: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[+-]\d{4}$/,
  };
}

// Conversions are found by click and time: sheets of clicks have no order IDs.
const adjustments: AdjustmentFormat = {
  delimiter: ',',
  notes: [
    'Upload adjustments on their own at Google Ads > Goals > Conversions > Uploads, after the sheet with the conversions.',
    'A conversion that was retracted cannot be adjusted again.',
  ],
  preamble: zoneLine,
  columns: () => [
    { ...adjustedClickColumn('Google Click ID'), isKey: true },
    { ...nameColumn<LedgerEntry>('Conversion Name'), isKey: true },
    { ...timeColumn<LedgerEntry>('Conversion Time', ({ at }) => at), isKey: true },
    timeColumn<LedgerEntry>('Adjustment Time', (_, now) => now),
    {
      title: 'Adjustment Type',
      cell: ({ action }) => (action === 'retract' ? 'RETRACT' : 'RESTATE'),
      pattern: /^(RESTATE|RETRACT)$/,
    },
    valueColumn<LedgerEntry>('Adjusted Value'),
    currencyColumn<LedgerEntry>('Adjusted Value Currency'),
  ],
};

/**
 * Google Ads, conversions from clicks: one row for each call whose visit carries a Google click id.
 */
export const googleAdsClicks: SheetFormat = {
  name: 'google-ads-clicks',
  title: 'Google Ads, conversions from clicks',
  delimiter: ',',
  accepts: {
    ...usualAcceptance,
    matchBy: ['gclid'],
    findsBy: 'click',
    takesConsent: true,
  },
  needsName: true,
  notes: [
    'Upload the file as it is at Google Ads > Goals > Conversions > Uploads.',
    'Sheets may overlap by a day or more: the same click, name and time counts once.',
  ],
  preamble: zoneLine,
  columns: (rules) => [
    { ...clickIdColumn('Google Click ID', 'gclid'), isKey: true },
    { ...nameColumn('Conversion Name'), isKey: true },
    { ...timeColumn('Conversion Time', ({ at }) => at), isKey: true },
    valueColumn('Conversion Value'),
    currencyColumn('Conversion Currency'),
    ...consentColumns(rules),
  ],
  adjustments,
};

/**
 * Google Ads, conversions from calls: matched by caller number and start, so only calls through
 * call extensions go in.
 */
export const googleAdsCalls: SheetFormat = {
  name: 'google-ads-calls',
  title: 'Google Ads, conversions from calls',
  delimiter: ',',
  accepts: {
    ...usualAcceptance,
    matchBy: ['caller number'],
    findsBy: null,
    takesConsent: true,
    onlyExtensions: true,
    minAge: '12h',
  },
  needsName: true,
  notes: [
    'This sheet has the phone numbers of callers, because Google Ads matches by them. Treat it as personal data.',
    'Upload the file as it is at Google Ads > Goals > Conversions > Uploads. A call that is uploaded twice counts once.',
  ],
  preamble: zoneLine,
  columns: (rules) => [
    {
      title: "Caller's Phone Number",
      cell: ({ callerNumber }) => callerNumber,
      pattern: /^\+[1-9]\d{7,14}$/,
      isKey: true,
      holdsPhone: true,
    },
    { ...timeColumn('Call Start Time', ({ startedAt }) => startedAt), isKey: true },
    { ...nameColumn('Conversion Name'), isKey: true },
    timeColumn('Conversion Time', ({ endedAt }) => endedAt),
    valueColumn('Conversion Value'),
    currencyColumn('Conversion Currency'),
    ...consentColumns(rules),
  ],
};
