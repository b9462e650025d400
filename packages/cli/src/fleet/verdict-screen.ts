import type { AccountVerdict } from '@call-attribution/fleet';
import { count, plural } from '../term/numbers.ts';
import type { Style } from '../term/style.ts';
import { type Column, fitTable } from '../term/table.ts';

const columns: readonly Column[] = [
  { title: 'ACCOUNT', min: 8, rank: 0 },
  { title: 'PARCELS', align: 'right', min: 8, rank: 4 },
  { title: 'RECORDS', align: 'right', min: 9, rank: 2 },
  { title: 'SERVER', align: 'right', min: 9, rank: 3 },
  { title: 'STORE', align: 'right', min: 9, rank: 5 },
  { title: 'VERDICT', min: 24, rank: 1 },
];

/** The verdict about each account, and a last line about all of them. */
export function verdictScreen(
  verdicts: readonly AccountVerdict[],
  options: { readonly width: number | null; readonly style: Style },
): string[] {
  const hasStore = verdicts.some(({ stored }) => stored !== null);
  const shown = columns.filter(({ title }) => hasStore || title !== 'STORE');
  const rows = verdicts.map((verdict) => {
    const { account, parcels, records, total, stored } = verdict;
    const { committed, of } = parcels;
    return [
      account,
      committed === of ? count(of) : `${count(committed)} of ${count(of)}`,
      count(records),
      total === null ? '?' : count(total),
      ...(hasStore ? [stored === null ? '' : count(stored)] : []),
      wordsOf(verdict),
    ];
  });
  const proved = verdicts.filter(({ verdict }) => verdict === 'proved').length;
  const records = verdicts.reduce((sum, verdict) => sum + verdict.records, 0);
  const all = `${plural(verdicts.length, 'account')}: ${count(proved)} proved`;
  return [
    ...fitTable(shown, rows, options).lines,
    `${all}${proved < verdicts.length ? `, ${count(verdicts.length - proved)} not` : ''}   ${plural(records, 'record')}`,
  ];
}

function wordsOf({ verdict, why }: AccountVerdict): string {
  return why === null ? verdict : `${verdict}: ${why.replace(/\.$/, '')}`;
}
