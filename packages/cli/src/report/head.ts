import { formatNaive, naiveAt } from '@call-attribution/core/time';
import { type Clause, type Filter, printFilter, safeParse } from '@call-attribution/query-dsl';
import type { Answer, Question } from '@call-attribution/questions';
import { covered, formatPeriod } from '@call-attribution/questions/chart';
import type { AskedAccount } from './question.ts';

/** When the calls of an answer were read, in the time zone of its period; null when nobody has said which zone that is. */
export function readUntil({ period, asOf }: Answer, now: number): string | null {
  const { timeZone } = period;
  if (timeZone === null) return null;
  const read = asOf === null ? now : Math.min(now, Date.parse(asOf));
  return formatNaive(naiveAt(read, timeZone));
}

/** What was typed of the calls, apart from the period. */
interface AskedCalls extends Pick<Question, 'q'> {
  readonly where: string | null;
}

/** What a page is about, for people: account, period, date, and which calls. */
export function headOf(
  asked: AskedCalls,
  main: Answer,
  accounts: readonly AskedAccount[],
  now: number,
): [name: string, text: string][] {
  const { period } = main;
  const names = main.accounts.flatMap(({ account }) => {
    const asked = accounts.find(({ key }) => key === account);
    return asked === undefined ? [account] : (asked.name ?? asked.settings.account?.name ?? []);
  });
  const shown = covered(period, readUntil(main, now));
  const span = formatPeriod(period.from === null && period.to === null ? period : shown);
  const written = formatPeriod({ from: formatNaive(naiveAt(now, period.timeZone ?? 'UTC')), to: null });
  const calls = callsInWords(asked);
  const accountTitle = names.length === 1 ? 'Account' : 'Accounts';
  return [
    ...(names.length === 0 ? [] : [[accountTitle, names.join(', ')] as const]),
    ['Period', `${span}, ${period.timeZone ?? 'in the time zone of the account'}`] as const,
    ...(main.compared === null ? [] : [['Compared with', formatPeriod(main.compared)] as const]),
    ['Written', `${written.replace('since ', '')}, ${period.timeZone ?? 'UTC'}`] as const,
    ...(calls === '' ? [] : [['Calls', calls] as const]),
  ].map(([name, text]) => [name, `${text.charAt(0).toUpperCase()}${text.slice(1)}`]);
}

/** Which calls a question is about, apart from the period. Empty when it is about all. */
function callsInWords({ q = '', where }: AskedCalls): string {
  const read = safeParse(q);
  const filter: Filter = read.ok ? read.filter : { clauses: [] };
  return [
    ...filter.clauses.map(clauseInWords),
    ...(where !== null ? [`only those where ${where}`] : []),
  ].join('; ');
}

function clauseInWords(clause: Clause): string {
  if (clause.kind === 'flag') return 'call extensions included';
  const { field, lower, upper } = clause;
  if (field !== 'talk_minutes') return `only those with ${printFilter({ clauses: [clause] })}`;
  const [least, most] = [lower?.text ?? null, upper?.text ?? null];
  if (Number(most ?? '1') === 0) return 'missed calls only';
  const ends: string[] = [];
  if (least !== null && Number(least) !== 0)
    ends.push(`${lower?.inclusive === false ? 'more than' : 'at least'} ${least}`);
  if (most !== null) ends.push(`${upper?.inclusive === false ? 'less than' : 'at most'} ${most}`);
  return ['with', ...(ends.length === 0 ? [] : [ends.join(' and ')]), 'talk minutes'].join(' ');
}
