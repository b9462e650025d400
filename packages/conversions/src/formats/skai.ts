import type { Conversion } from '../conversion.ts';
import type { SheetColumn, SheetFormat } from '../sheet-format.ts';
import { clickIdColumn, emptyColumn, localTime, sidColumn, usualAcceptance } from './columns.ts';

function timeColumn(title: string, timeOf: (conversion: Conversion) => number): SheetColumn {
  return {
    title,
    cell: (conversion, { timeZone }) => localTime(timeOf(conversion), timeZone),
    pattern: /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/,
  };
}

const numberForm = /^\+?\d{3,15}$/;

/**
 * Skai (Kenshoo), daily call file. The caller's number, name and address may be empty there, and
 * always are.
 */
export const skai: SheetFormat = {
  name: 'skai',
  title: 'Skai (Kenshoo), call file',
  delimiter: ',',
  accepts: {
    ...usualAcceptance,
    matchBy: ['k_clickid'],
    findsBy: null,
    takesConsent: false,
    needsFinalStatus: false,
    takesValue: false,
    // The file has the start and the end of the talk: Skai decides which calls are long enough.
    minTalk: '0s',
    minAge: '0h',
    clickWindow: null,
  },
  needsName: false,
  notes: [
    "The caller's number, name and address stay empty: Skai does not need them.",
    'Times are local to the account; Skai must be set to the same time zone.',
  ],
  columns: () => [
    timeColumn('date_time', ({ startedAt }) => startedAt),
    emptyColumn('caller_number'),
    {
      title: 'ct_number',
      cell: ({ calledNumber }) => (numberForm.test(calledNumber) ? calledNumber : null),
      pattern: numberForm,
      isOptional: true,
      holdsPhone: true,
    },
    emptyColumn('smb_number'),
    emptyColumn('caller_name'),
    emptyColumn('caller_address'),
    timeColumn('call_start', ({ startedAt }) => startedAt),
    timeColumn('call_end', ({ endedAt }) => endedAt),
    { ...sidColumn('call_id'), isKey: true },
    {
      title: 'call_status',
      cell: ({ isAnswered }) => (isAnswered ? 'Answered' : 'Not Answered'),
      pattern: /^(Not )?Answered$/,
    },
    clickIdColumn('k_clickid', 'k_clickid'),
  ],
};
